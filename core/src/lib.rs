//! The decisions of Hookonce, as pure functions over values. No clock, no chance, no file, no driver: time and dice
//! are arguments, rows are facts. Start at [`admit`], [`route`], [`claim`] and [`settle`], one a verb.

pub mod admit;
pub mod arrival;
pub mod audit;
pub mod claim;
pub mod coding;
pub mod command;
pub mod consumer;
pub mod delivery;
pub mod destination;
pub mod event;
pub mod fault;
pub mod frame;
pub mod group;
pub mod id;
pub mod identify;
pub mod lane;
pub mod lease;
pub mod message;
pub mod message_key;
pub mod provider;
pub mod request;
pub mod respond;
pub mod retain;
pub mod retry;
pub mod route;
pub mod sample;
pub mod settle;
pub mod signature;
pub mod source;
pub mod time;

//! The tree as a whole: what holds for every command holds for those to come.

use super::tree;

/// Every command of the tree with its words.
fn commands(command: &clap::Command, words: &[String], found: &mut Vec<(Vec<String>, clap::Command)>) {
    for sub in command.get_subcommands().filter(|s| s.get_name() != "help") {
        let words: Vec<String> = words.iter().cloned().chain([sub.get_name().to_owned()]).collect();
        found.push((words.clone(), sub.clone()));
        commands(sub, &words, found);
    }
}

fn all() -> Vec<(Vec<String>, clap::Command)> {
    let mut root = tree();
    root.build();
    let mut found = vec![(Vec::new(), root.clone())];
    commands(&root, &[], &mut found);
    found
}

#[test]
fn the_tree_is_sound() {
    tree().debug_assert();
}

#[test]
fn help_begins_with_three_examples() {
    for (words, command) in all() {
        let before = command.get_before_help().map(ToString::to_string).unwrap_or_default();
        let examples: Vec<&str> = before.lines().skip(1).collect();
        assert!(before.starts_with("Examples:\n"), "`{}` has no examples", words.join(" "));
        assert_eq!(examples.len(), 3, "`{}`: {before}", words.join(" "));
        assert!(examples.iter().all(|line| line.contains("hookonce")), "`{}`: {before}", words.join(" "));
        assert!(command.get_about().is_some(), "`{}` says nothing about itself", words.join(" "));
    }
}

#[test]
fn secrets_are_never_values_of_flags() {
    for (words, command) in all() {
        for arg in command.get_arguments().filter(|a| a.get_id().as_str().contains("secret")) {
            let id = arg.get_id().as_str();
            let fine = id.ends_with("stdin") || id.ends_with("file");
            assert!(fine, "`{} --{id}` would put a secret on the command line", words.join(" "));
        }
    }
}

//! Signatures as text. A computed value is written in the provider's one spelling and compared as text; only what cannot
//! be computed again (a public-key signature) is decoded, and then strictly.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

use super::scheme::Encoding;

/// Longest text of a signature: SHA-512 or Ed25519 as hex.
pub(super) const MAX_TEXT: usize = 128;

/// Text on the stack.
pub(super) struct Written {
    bytes: [u8; MAX_TEXT],
    len: usize,
}

impl Written {
    pub(super) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

impl Encoding {
    /// Writes at most 64 bytes.
    pub(super) fn write(self, value: &[u8]) -> Written {
        let mut written = Written { bytes: [0; MAX_TEXT], len: 0 };
        written.len = match self {
            Encoding::Hex => write_hex(value, &mut written.bytes),
            Encoding::Base64 => STANDARD.encode_slice(value, &mut written.bytes).unwrap_or(0),
            Encoding::Base64Url => URL_SAFE_NO_PAD.encode_slice(value, &mut written.bytes).unwrap_or(0),
        };
        written
    }

    /// The one text length that this many bytes have.
    pub(super) fn text_len(self, bytes: usize) -> usize {
        match self {
            Encoding::Hex => bytes * 2,
            Encoding::Base64 => bytes.div_ceil(3) * 4,
            Encoding::Base64Url => (bytes * 4).div_ceil(3),
        }
    }

    /// Whether a text can be a signature at all; only the reason of a refusal depends on it.
    pub(super) fn is_text(self, text: &[u8]) -> bool {
        text.iter().all(|b| match self {
            Encoding::Hex => matches!(b, b'0'..=b'9' | b'a'..=b'f'),
            Encoding::Base64 => b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'='),
            Encoding::Base64Url => b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'),
        })
    }

    /// The bytes of a text in exactly this spelling.
    pub(super) fn read(self, text: &[u8]) -> Option<Vec<u8>> {
        match self {
            Encoding::Hex => text.chunks(2).map(|pair| Some(digit(pair.first())? << 4 | digit(pair.get(1))?)).collect(),
            Encoding::Base64 => STANDARD.decode(text).ok(),
            Encoding::Base64Url => URL_SAFE_NO_PAD.decode(text).ok(),
        }
    }
}

fn write_hex(value: &[u8], out: &mut [u8]) -> usize {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let (pairs, _) = out.as_chunks_mut::<2>();
    for (pair, byte) in pairs.iter_mut().zip(value) {
        *pair = [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]];
    }
    value.len() * 2
}

fn digit(byte: Option<&u8>) -> Option<u8> {
    match byte? {
        b @ b'0'..=b'9' => Some(b - b'0'),
        b @ b'a'..=b'f' => Some(b - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_encoding_has_one_spelling() {
        let value: Vec<u8> = (0u8..64).map(|b| b.wrapping_mul(37)).collect();
        for encoding in [Encoding::Hex, Encoding::Base64, Encoding::Base64Url] {
            for value in [&value[..20], &value[..32], &value[..48], &value] {
                let text = encoding.write(value);
                assert_eq!(text.as_bytes().len(), encoding.text_len(value.len()));
                assert!(encoding.is_text(text.as_bytes()));
                assert_eq!(encoding.read(text.as_bytes()), Some(value.to_vec()));
            }
        }
        assert_eq!(Encoding::Hex.write(&[0xab, 0x01]).as_bytes(), b"ab01");
        assert_eq!(Encoding::Hex.read(b"AB"), None);
        assert_eq!(Encoding::Hex.read(b"abc"), None);
        assert_eq!(Encoding::Base64.read(b"/w"), None, "padding is part of the spelling");
        assert_eq!(Encoding::Base64.read(b"/x=="), None, "unused bits are zero");
    }
}

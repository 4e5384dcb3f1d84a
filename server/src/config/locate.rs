//! Which files are read: `--config`, else `HOOKONCE_CONFIG`, else `./hookonce.toml`, else the user's folder, else
//! `/etc`; with each its `conf.d/*.toml` in name order.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::environment::Environment;
use super::secret::spoken;

pub const FILE_NAME: &str = "hookonce.toml";
/// A configuration of that size is a wrong path.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;
/// As many drop-ins are a mistake too.
const MAX_DROP_INS: usize = 1_000;

/// `Err`: the places that were looked at.
pub fn locate(given: Option<&Path>, env: &Environment) -> Result<PathBuf, Vec<PathBuf>> {
    if let Some(path) = given {
        return Ok(path.to_owned());
    }
    if let Some(path) = env.get("HOOKONCE_CONFIG").filter(|p| !p.is_empty()) {
        return Ok(PathBuf::from(path));
    }
    let places = places(env);
    places.iter().find(|path| path.is_file()).cloned().ok_or(places)
}

fn places(env: &Environment) -> Vec<PathBuf> {
    let set = |name: &str| env.get(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let user = set("XDG_CONFIG_HOME").or_else(|| set("HOME").map(|home| home.join(".config")));
    let mut places = vec![PathBuf::from(FILE_NAME)];
    places.extend(user.map(|dir| dir.join("hookonce").join(FILE_NAME)));
    places.push(PathBuf::from("/etc/hookonce").join(FILE_NAME));
    places
}

/// The folder that relative paths start at; of a bare file name the current one.
pub fn folder(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

pub fn drop_ins(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder.join("conf.d")) else { return Vec::new() };
    let shown = |path: PathBuf| path.strip_prefix("./").map(Path::to_owned).unwrap_or(path);
    let paths = entries.filter_map(|e| e.ok().map(|e| shown(e.path())));
    let mut files: Vec<PathBuf> =
        paths.filter(|p| p.extension().is_some_and(|e| e == "toml")).take(MAX_DROP_INS).collect();
    files.sort();
    files
}

/// The text of a file, or in words why not.
pub fn text(path: &Path) -> Result<String, String> {
    let file = std::fs::File::open(path).map_err(|e| spoken(&e))?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(|e| spoken(&e))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(format!("it is larger than {MAX_FILE_BYTES} bytes"));
    }
    String::from_utf8(bytes).map_err(|e| format!("it is no UTF-8 text (byte {})", e.utf8_error().valid_up_to()))
}

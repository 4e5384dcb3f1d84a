//! A disk that can lose its power: a file, a loop device, ext4. Needs root, `mkfs.ext4`, `mount`, `python3`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// Sparse; a series needs a fraction of it.
const SIZE: u64 = 512 * 1024 * 1024;
/// The file system's shutdown call (number and the value "do not flush the log") has no safe wrapper in Rust, and
/// `unsafe` is forbidden in this workspace.
const CUT: &str = "import fcntl, os, struct, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
fcntl.ioctl(fd, 0x8004587d, struct.pack('I', 2))";

#[derive(Debug)]
pub struct Image {
    file: PathBuf,
    mount: PathBuf,
    mounted: bool,
}

impl Image {
    /// A fresh file system, mounted.
    pub fn make(folder: &Path) -> Result<Self> {
        if !rustix::process::geteuid().is_root() {
            bail!("power cuts need root, for a loop device of their own\n  hint: run the campaign as root");
        }
        std::fs::create_dir_all(folder)?;
        let (file, mount) = (folder.join("disk.img"), folder.join("disk"));
        std::fs::create_dir_all(&mount)?;
        std::fs::File::create(&file)?.set_len(SIZE)?;
        command("mkfs.ext4", &["-q", "-F", text(&file)?])?;
        let mut image = Self { file, mount, mounted: false };
        image.on()?;
        Ok(image)
    }

    pub fn mount(&self) -> &Path {
        &self.mount
    }

    fn on(&mut self) -> Result<()> {
        command("mount", &["-o", "loop", text(&self.file)?, text(&self.mount)?])?;
        self.mounted = true;
        Ok(())
    }

    fn off(&mut self) -> Result<()> {
        self.mounted = false;
        command("umount", &[text(&self.mount)?])
    }

    /// Power off, power on: unsynced pages are gone, the journal is replayed.
    pub fn cut(&mut self) -> Result<()> {
        command("python3", &["-c", CUT, text(&self.mount)?])?;
        self.off()?;
        self.on()
    }
}

impl Drop for Image {
    /// A mount left behind would outlive the campaign.
    fn drop(&mut self) {
        if self.mounted
            && let Err(why) = self.off()
        {
            eprintln!("cannot unmount `{}`: {why:#}", self.mount.display());
        }
    }
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("a path that is not text")
}

fn command(name: &str, args: &[&str]) -> Result<()> {
    let out = Command::new(name).args(args).output().with_context(|| format!("cannot start `{name}`"))?;
    if !out.status.success() {
        bail!("`{name}` failed: {}", String::from_utf8_lossy(&out.stderr).trim());
    }
    Ok(())
}

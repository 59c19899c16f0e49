//! Builds the web pages with npm, or uses a directory of pages that are already built. Copies the
//! pages and their compressed forms into the folder that is embedded. Without npm and without such
//! a directory, the folder contains one page with build instructions.

use std::{
    env, fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::Command,
};

/// Oldest version of Node.js that the web build supports.
const NODE: (u32, u32) = (20, 19);
/// Sources that trigger a rebuild.
const WATCHED: [&str; 6] =
    ["src", "public", "index.html", "package-lock.json", "vite.config.ts", "tsconfig.json"];
/// Extensions of files that are compressed.
const TEXTS: [&str; 6] = ["html", "js", "css", "svg", "json", "txt"];

fn main() {
    println!("cargo:rerun-if-env-changed=EBB_PORTAL");
    println!("cargo:rerun-if-env-changed=EBB_PORTAL_DIST");
    println!("cargo:rerun-if-changed=not-built.html");
    let here = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let out = PathBuf::from(variable("OUT_DIR"));
    let required = env::var("EBB_PORTAL").is_ok_and(|value| value == "required");
    let built = match portal(&here, &out, required) {
        Ok(built) => built,
        Err(why) if required => {
            panic!("EBB_PORTAL=required, but the portal cannot be built: {why}")
        }
        Err(why) => {
            println!("cargo:warning=the portal is not in this build: {why}");
            None
        }
    };
    assert!(built.is_some() || !required, "EBB_PORTAL=required, but its sources are missing");
    println!("cargo:rustc-env=EBB_PORTAL_BUILT={}", if built.is_some() { "yes" } else { "no" });
    let pages = match built {
        Some(dist) => dist,
        None => not_built(&here, &out).unwrap_or_else(|error| panic!("not-built.html: {error}")),
    };
    embed(&pages, &out.join("pages"))
        .unwrap_or_else(|error| panic!("cannot write the portal's pages: {error}"));
}

/// Returns a folder that contains only a page with build instructions.
fn not_built(here: &Path, out: &Path) -> io::Result<PathBuf> {
    let folder = out.join("not-built");
    fs::create_dir_all(&folder)?;
    fs::copy(here.join("not-built.html"), folder.join("index.html"))?;
    Ok(folder)
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("{name} is not set"))
}

/// Returns the folder of the built pages; `None` if this build omits them.
fn portal(here: &Path, out: &Path, required: bool) -> Result<Option<PathBuf>, String> {
    if let Some(dist) = env::var_os("EBB_PORTAL_DIST").filter(|dist| !dist.is_empty()) {
        let dist = PathBuf::from(dist);
        println!("cargo:rerun-if-changed={}", dist.display());
        return match dist.join("index.html").is_file() {
            true => Ok(Some(dist)),
            false => Err(format!("EBB_PORTAL_DIST={} has no index.html", dist.display())),
        };
    }
    if variable("PROFILE") != "release" && !required {
        return Ok(None);
    }
    let web = here.join("../../web");
    for name in WATCHED {
        let path = web.join(name);
        if path.exists() {
            println!("cargo:rerun-if-changed={}", path.display());
        }
    }
    if !web.join("package.json").is_file() {
        return Err("the folder web with its sources is missing".to_owned());
    }
    check_node()?;
    if !is_installed(&web) {
        run(&web, &["ci", "--no-audit", "--no-fund"])?;
    }
    let dist = out.join("dist");
    let folder = dist.to_string_lossy();
    run(&web, &["run", "build", "--", "--outDir", &folder, "--emptyOutDir"])?;
    Ok(Some(dist))
}

fn check_node() -> Result<(), String> {
    let asked = Command::new("node").arg("--version").output();
    let text = asked.ok().filter(|it| it.status.success()).map(|it| it.stdout);
    let text = text.ok_or("node is not installed")?;
    let text = String::from_utf8_lossy(&text);
    let mut numbers = text.trim().trim_start_matches('v').split('.').map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) if NODE <= (major, minor) => Ok(()),
        _ => Err(format!(
            "the version of node is {}, but at least {}.{} is required",
            text.trim(),
            NODE.0,
            NODE.1
        )),
    }
}

/// Returns whether the packages in the lock file are installed.
fn is_installed(web: &Path) -> bool {
    let changed = |path: &str| fs::metadata(web.join(path)).and_then(|it| it.modified()).ok();
    match (changed("node_modules/.package-lock.json"), changed("package-lock.json")) {
        (Some(installed), Some(wanted)) => wanted <= installed,
        _ => false,
    }
}

fn run(web: &Path, arguments: &[&str]) -> Result<(), String> {
    let what = format!("npm {}", arguments.first().unwrap_or(&""));
    let ran = Command::new("npm").args(arguments).current_dir(web).output();
    let ran = ran.map_err(|error| format!("{what}: {error}"))?;
    if ran.status.success() {
        return Ok(());
    }
    let said = [ran.stdout, ran.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines.get(lines.len().saturating_sub(8)..).unwrap_or_default();
    Err(format!("{what} failed: {}", last.join(" | ")))
}

/// Fills the folder that `src/files.rs` embeds: files, and their compressed forms.
fn embed(dist: &Path, pages: &Path) -> io::Result<()> {
    if pages.exists() {
        fs::remove_dir_all(pages)?;
    }
    let mut paths = Vec::new();
    walk(dist, &mut paths)?;
    for path in &paths {
        let bytes = fs::read(path)?;
        let name = path.strip_prefix(dist).unwrap_or(path);
        let copy = pages.join(name);
        fs::create_dir_all(copy.parent().unwrap_or(pages))?;
        fs::write(&copy, &bytes)?;
        let name = name.to_string_lossy();
        if let Some(smaller) = compress(&name, &bytes)? {
            fs::write(pages.join(format!("{name}.br")), smaller)?;
        }
    }
    Ok(())
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        match path.is_dir() {
            true => walk(&path, found)?,
            false => found.push(path),
        }
    }
    Ok(())
}

/// Returns a file in compressed form; `None` if that is not smaller or the file is not a text.
fn compress(name: &str, bytes: &[u8]) -> io::Result<Option<Vec<u8>>> {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    if !TEXTS.contains(&extension) {
        return Ok(None);
    }
    let mut out = Vec::new();
    {
        let mut writer = brotli::CompressorWriter::new(&mut out, 64 * 1024, 11, 22);
        writer.write_all(bytes)?;
        writer.flush()?;
    }
    Ok((out.len() < bytes.len()).then_some(out))
}

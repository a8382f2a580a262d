//! Compresses the page's files and writes the table of them that `assets` includes.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=assets");
    let out = env::var("OUT_DIR").expect("cargo sets it");
    let mut names: Vec<_> = fs::read_dir("assets").expect("the folder is part of the crate").flatten().collect();
    names.sort_by_key(fs::DirEntry::file_name);
    let mut table = String::from("pub const FILES: &[(&str, &[u8])] = &[\n");
    for entry in names {
        let name = entry.file_name().into_string().expect("assets have plain names");
        let bytes = fs::read(entry.path()).expect("it was listed");
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        packed.write_all(&bytes).expect("memory takes it");
        let packed = packed.finish().expect("memory takes it");
        let path = Path::new(&out).join(format!("{name}.gz"));
        fs::write(&path, packed).expect("the build folder can be written");
        table.push_str(&format!("    ({name:?}, include_bytes!({:?})),\n", path.display().to_string()));
    }
    table.push_str("];\n");
    fs::write(Path::new(&out).join("assets.rs"), table).expect("the build folder can be written");
}

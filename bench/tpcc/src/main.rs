//! `cargo run --release -p tpcc`: the program of the library `tpcc`.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    tpcc::program()
}

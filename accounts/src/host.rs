//! Which clients match the host part of an account: a name, an address, a pattern with `%` and `_`, or a network.
//!
//! If several accounts of a user match, the most specific host wins: names and addresses, then networks by the length
//! of their mask, then patterns by the part before the first wildcard, then `%`.

use std::net::IpAddr;

/// How specific a host is; the most specific is the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank(u8, u16);

pub fn rank(host: &str) -> Rank {
    if let Some((_, bits)) = network(host) {
        return Rank(1, 128 - u16::from(bits));
    }
    match host.find(['%', '_']) {
        None if host.is_empty() => Rank(3, 1),
        None => Rank(0, 0),
        Some(_) if host == "%" => Rank(3, 0),
        Some(at) => Rank(2, u16::MAX - u16::try_from(at).unwrap_or(u16::MAX)),
    }
}

/// Does the host of an account match a client of this name and address?
pub fn matches(host: &str, name: &str, address: Option<IpAddr>) -> bool {
    if let Some((network, bits)) = network(host) {
        return address.is_some_and(|address| is_within(address, network, bits));
    }
    if host.is_empty() || host == "%" {
        return true;
    }
    let like = |text: &str| {
        let (text, host) = (text.to_ascii_lowercase(), host.to_ascii_lowercase());
        types::collation::like(text.as_bytes(), host.as_bytes(), Some(b'\\'), types::CollationId::UTF8MB4_GENERAL_CI)
    };
    like(name) || address.is_some_and(|address| like(&address.to_string()))
}

/// `a.b.c.d/m.m.m.m` or `address/bits`: the address and the length of its mask.
fn network(host: &str) -> Option<(IpAddr, u8)> {
    let (address, mask) = host.split_once('/')?;
    let address: IpAddr = address.parse().ok()?;
    let bits = match mask.parse::<IpAddr>() {
        Ok(IpAddr::V4(mask)) => {
            let mask = u32::from(mask);
            if mask.leading_ones() + mask.trailing_zeros() < 32 {
                return None;
            }
            mask.leading_ones() as u8
        }
        Ok(IpAddr::V6(_)) => return None,
        Err(_) => mask.parse().ok()?,
    };
    let most = if address.is_ipv4() { 32 } else { 128 };
    (bits <= most).then_some((address, bits))
}

fn is_within(address: IpAddr, network: IpAddr, bits: u8) -> bool {
    let shifted = |value: u128, width: u32| value.checked_shr(width - u32::from(bits)).unwrap_or(0);
    match (address, network) {
        (IpAddr::V4(a), IpAddr::V4(b)) => shifted(u32::from(a).into(), 32) == shifted(u32::from(b).into(), 32),
        (IpAddr::V6(a), IpAddr::V6(b)) => shifted(a.into(), 128) == shifted(b.into(), 128),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_stand_for_clients() {
        let address = |text: &str| text.parse().ok();
        for (host, name, ip, expected) in [
            ("%", "anything", None, true),
            ("localhost", "localhost", address("127.0.0.1"), true),
            ("localhost", "10.0.0.1", address("10.0.0.1"), false),
            ("127.0.0.1", "localhost", address("127.0.0.1"), true),
            ("10.0.%", "10.0.3.4", address("10.0.3.4"), true),
            ("10.0.%", "10.1.3.4", address("10.1.3.4"), false),
            ("10.0.0.0/255.255.0.0", "10.0.3.4", address("10.0.3.4"), true),
            ("10.0.0.0/16", "10.1.3.4", address("10.1.3.4"), false),
            ("fe80::/10", "fe80::1", address("fe80::1"), true),
            ("0.0.0.0/0", "fe80::1", address("fe80::1"), false),
            ("0.0.0.0/0", "9.9.9.9", address("9.9.9.9"), true),
            ("h_st", "host", None, true),
            ("10.0.0.0/16", "localhost", None, false),
        ] {
            assert_eq!(matches(host, name, ip), expected, "{host} {name}");
        }
    }

    #[test]
    fn the_most_specific_comes_first() {
        let order = ["localhost", "10.0.0.0/24", "10.0.0.0/8", "10.0.%", "10.%", "%"];
        assert!(order.windows(2).all(|pair| rank(pair[0]) < rank(pair[1])));
    }
}

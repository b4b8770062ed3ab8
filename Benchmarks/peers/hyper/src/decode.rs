//! The types of the JSON documents that fixtures.py creates.

// The other clients' types have the same members, which nothing reads either.
#![allow(dead_code)]

use crate::load::fail;
use serde::{Deserialize, Deserializer};

#[derive(Deserialize)]
struct Page {
    total: usize,
    items: Vec<Item>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Item {
    id: usize,
    name: String,
    price: f64,
    is_in_stock: bool,
    tags: Vec<String>,
    note: Option<String>,
}

/// Names 14 of 60 keys.
#[derive(Deserialize)]
struct Wide {
    #[serde(deserialize_with = "date")]
    created_at: i64,
    #[serde(deserialize_with = "date")]
    updated_at: i64,
    field1_name: i64,
    field4_name: String,
    field13_name: i64,
    field16_name: String,
    field20_name: String,
    field26_name: Option<bool>,
    field28_name: String,
    field33_name: i64,
    field40_name: String,
    field44_name: String,
    field53_name: i64,
    owner_id: usize,
}

// Returns the seconds since 1970-01-01 of a date such as 2001-02-03T04:05:06Z, which must be valid.
fn date<'a, D: Deserializer<'a>>(deserializer: D) -> Result<i64, D::Error> {
    let text = <&str>::deserialize(deserializer)?;
    let number = |range: std::ops::Range<usize>| -> Result<i64, D::Error> {
        let digits = text.get(range).ok_or_else(|| serde::de::Error::custom("no date"))?;
        digits.parse().map_err(serde::de::Error::custom)
    };
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    // Years are counted from March, so that a leap day is the last day of its year.
    let (shifted, months) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + (153 * months + 2) / 5 + day - 719_469;
    Ok(days * 86400 + number(11..13)? * 3600 + number(14..16)? * 60 + number(17..19)?)
}

/// Decodes a body, and checks its last object.
pub fn check(kind: &str, body: &[u8]) {
    let is_expected = if kind == "wide" {
        let list: Vec<Wide> = serde_json::from_slice(body).unwrap_or_else(|error| fail("JSON", error));
        list.last().map_or(false, |last| last.owner_id == list.len() - 1)
    } else {
        let page: Page = serde_json::from_slice(body).unwrap_or_else(|error| fail("JSON", error));
        page.items.len() == page.total && page.items.last().map_or(false, |last| last.id == page.total)
    };
    if !is_expected {
        fail("response", "the JSON is wrong");
    }
}

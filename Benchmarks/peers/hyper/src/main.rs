//! Load through hyper's client: the same work, checks and output line as Lupine's generators, on one thread.

mod decode;
mod load;

use hyper::body::{Bytes, HttpBody, Sender};
use hyper::client::HttpConnector;
use hyper::{Body, Client, Method, Request, Response, StatusCode, Uri};
use load::{fail, Costs, Load, Tickets};
use std::fs::File;
use std::io::Write;
use std::sync::Arc;

const HELLO_WORLD: &[u8] = b"Hello, world!";
static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

fn main() {
    let load = Arc::new(Load::from_command_line());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.unwrap_or_else(|error| fail("runtime", error)).block_on(async {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let client = Client::builder().pool_max_idle_per_host(load.in_flight).build(connector);
        send(&Tickets::new(load.warm_up), &client, &load).await;
        let tickets = Tickets::new(load.requests);
        let before = Costs::now();
        send(&tickets, &client, &load).await;
        tickets.report(before);
    });
}

async fn send(tickets: &Arc<Tickets>, client: &Client<HttpConnector>, load: &Arc<Load>) {
    let uris: Arc<Vec<Uri>> = Arc::new(load.urls().iter().map(|url| parse(url)).collect());
    let mut slots = Vec::new();
    for _ in 0..load.in_flight {
        let (tickets, client, load, uris) = (tickets.clone(), client.clone(), load.clone(), uris.clone());
        slots.push(tokio::spawn(async move {
            while let Some(ticket) = tickets.take() {
                let request = request(&uris[ticket.index % uris.len()], &load);
                let response = client.request(request).await.unwrap_or_else(|error| fail("request", error));
                check(response, &load).await;
                tickets.finish(ticket);
            }
        }));
    }
    for slot in slots {
        slot.await.unwrap_or_else(|error| fail("task", error));
    }
}

fn parse(url: &str) -> Uri {
    url.parse().unwrap_or_else(|error| fail("the URL", error))
}

fn request(uri: &Uri, load: &Load) -> Request<Body> {
    let request = Request::builder().uri(uri.clone()).header("User-Agent", "lupine-benchmarks").header("Accept", "*/*");
    let request = match load.upload_bytes {
        None => request.body(Body::empty()),
        Some(count) => {
            let (sender, body) = Body::channel();
            tokio::spawn(write_zeros(sender, count));
            request.method(Method::POST).header("Content-Length", count).body(body)
        }
    };
    request.unwrap_or_else(|error| fail("request", error))
}

// Sends zeros from memory, whereas the other clients read a file, because tokio can't read files without its fs feature.
async fn write_zeros(mut sender: Sender, count: u64) {
    let mut left = count;
    while left > 0 {
        let length = left.min(ZEROS.len() as u64);
        let piece = Bytes::from_static(&ZEROS[..length as usize]);
        sender.send_data(piece).await.unwrap_or_else(|error| fail("upload", error));
        left -= length;
    }
}

async fn check(mut response: Response<Body>, load: &Load) {
    if response.status() != StatusCode::OK {
        fail("response", response.status());
    }
    if let Some(kind) = &load.decode {
        let body = hyper::body::to_bytes(response.into_body()).await.unwrap_or_else(|error| fail("response", error));
        return decode::check(kind, &body);
    }
    let mut file = load.download.as_ref().map(|path| File::create(path).unwrap_or_else(|e| fail("the file", e)));
    let digits = load.upload_bytes.map(|count| count.to_string());
    let exact = digits.as_ref().map_or(HELLO_WORLD, |digits| digits.as_bytes());
    let mut received = 0;
    while let Some(piece) = response.body_mut().data().await {
        let piece = piece.unwrap_or_else(|error| fail("response", error));
        let end = received + piece.len();
        if load.body_bytes.is_none() && exact.get(received..end) != Some(&piece[..]) {
            fail("response", "the body is wrong");
        }
        if let Some(file) = &mut file {
            file.write_all(&piece).unwrap_or_else(|error| fail("the file", error));
        }
        received = end;
    }
    if received != load.body_bytes.unwrap_or(exact.len()) {
        fail("response", "the body has another length");
    }
}

/* Keeps the page for use without a connection. `kibitz export --web` writes the next two lines. */
const VERSION = "";
const FILES = [];
/** The folder too, because another one of the same host keeps its own. */
const OURS = `kibitz ${new URL("./", self.location.href).pathname} `;
const CACHE = OURS + VERSION;

self.addEventListener("install", (event) => {
  const kept = async () => {
    const cache = await caches.open(CACHE);
    await cache.addAll(FILES);
    await self.skipWaiting();
  };
  event.waitUntil(kept());
});

self.addEventListener("activate", (event) => {
  const old = async () => {
    for (const name of await caches.keys()) if (name.startsWith(OURS) && name !== CACHE) await caches.delete(name);
    await self.clients.claim();
  };
  event.waitUntil(old());
});

self.addEventListener("fetch", (event) => {
  if (event.request.method !== "GET" || new URL(event.request.url).origin !== self.location.origin) return;
  const answer = async () => {
    const cache = await caches.open(CACHE);
    return (await cache.match(event.request, { ignoreSearch: true })) ?? fetch(event.request);
  };
  event.respondWith(answer());
});

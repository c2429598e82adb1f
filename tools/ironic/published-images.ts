import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, normalize } from 'node:path';
import { pipeline } from 'node:stream/promises';

export interface PublishedImages {
  url: string;
  stop(): Promise<void>;
}

/** The web server next to Ironic, from which BMCs fetch the images that it publishes. */
export async function startPublishedImages(directory: string): Promise<PublishedImages> {
  const server = createServer((request, response) => {
    // Resolved against the root first, so that `..` cannot leave it.
    const path = join(directory, normalize(decodeURIComponent(new URL(request.url ?? '/', 'http://images').pathname)));
    const file = createReadStream(path);
    file.once('error', () => response.writeHead(404).end());
    file.once('open', () => {
      if (request.method === 'HEAD') response.end();
      else pipeline(file, response).catch(() => undefined);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

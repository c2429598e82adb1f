import { once } from 'node:events';
import { readFile, readdir, readlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { ToolsError } from './errors.ts';

// Below the kernel's range for outgoing connections, so that no other process gets the port between the check and the
// start.
const MIN_PORT = 20_000;
const MAX_PORT = 32_000;

export async function pickFreePort(except: readonly number[] = []): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = MIN_PORT + Math.floor(Math.random() * (MAX_PORT - MIN_PORT));
    if (!except.includes(port) && (await listenError(port)) === undefined) return port;
  }
  throw new ToolsError('SLW_TOOLS_PORT_TAKEN', `no free port between ${MIN_PORT} and ${MAX_PORT} on 127.0.0.1`);
}

export async function requireFreePort(port: number): Promise<void> {
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new ToolsError('SLW_TOOLS_PORT_INVALID', `port ${port} is not a port number: expected 1 to 65535`);
  }
  const error = await listenError(port);
  if (error === undefined) return;
  if (error !== 'EADDRINUSE') {
    throw new ToolsError(
      'SLW_TOOLS_PORT_INVALID',
      `cannot listen on port ${port} of 127.0.0.1 (${error}): choose another with --port`,
    );
  }
  const holder = await holderOfPort(port);
  throw new ToolsError(
    'SLW_TOOLS_PORT_TAKEN',
    `port ${port} on 127.0.0.1 is taken${holder === undefined ? '' : ` by ${holder}`}: stop it, or choose another with --port`,
  );
}

async function listenError(port: number): Promise<string | undefined> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return undefined;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  } finally {
    if (server.listening) {
      server.close();
      await once(server, 'close');
    }
  }
}

/** Linux reports it for the user's processes; for other processes and systems the message omits it. */
async function holderOfPort(port: number): Promise<string | undefined> {
  const tables = await Promise.all(
    ['/proc/net/tcp', '/proc/net/tcp6'].map((file) => readFile(file, 'utf8').catch(() => '')),
  );
  const inodes = new Set(tables.flatMap((table) => listeningInodes(table, port)));
  if (inodes.size === 0) return undefined;
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  for (const pid of pids) {
    const fds = await readdir(`/proc/${pid}/fd`).catch(() => []);
    const links = await Promise.all(fds.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')));
    if (!links.some((link) => inodes.has(link))) continue;
    const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '');
    return `${name.trim() || 'a program'} (process ${pid})`;
  }
  return undefined;
}

/** The sockets that listen on this port, named as in /proc/<pid>/fd. */
export function listeningInodes(table: string, port: number): string[] {
  const LISTEN = '0A';
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return table
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[1]?.endsWith(suffix) === true && fields[3] === LISTEN)
    .map((fields) => `socket:[${fields[9]}]`);
}

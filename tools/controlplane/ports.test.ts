import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { listeningInodes, pickFreePort, requireFreePort } from './ports.ts';

describe('ports', () => {
  it('a picked port is free', async () => {
    const port = await pickFreePort();
    await expect(requireFreePort(port)).resolves.toBeUndefined();
  });

  it('a taken port is reported in one line with what to do, and on Linux with its owner', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const holder = process.platform === 'linux' ? ` by .+ \\(process ${process.pid}\\)` : '';
    await expect(requireFreePort(port)).rejects.toMatchObject({
      code: 'SLW_TOOLS_PORT_TAKEN',
      message: expect.stringMatching(new RegExp(`^port ${port} on 127\\.0\\.0\\.1 is taken${holder}: .+ --port$`)),
    });
    server.close();
  });

  it.each([0, -1, 65_536, 1.5, Number.NaN])('%d is not a port', async (port) => {
    await expect(requireFreePort(port)).rejects.toMatchObject({ code: 'SLW_TOOLS_PORT_INVALID' });
  });

  it('only listening sockets of that very port count', () => {
    const table = [
      '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
      '   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 111 1',
      '   1: 0100007F:1F90 0100007F:C000 01 00000000:00000000 00:00000000 00000000     0        0 222 1',
      '   2: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 333 1',
    ].join('\n');
    expect(listeningInodes(table, 8080)).toEqual(['socket:[111]']);
  });
});

import { describe, expect, it } from 'vitest';
import { buildIso } from './iso.ts';
import { startIsoServer } from './iso-server.ts';

describe('an ISO', () => {
  it('has the markers of its format where readers expect them, and its contents once', () => {
    const iso = buildIso('hello', 'config');
    expect(iso.length % 2048).toBe(0);
    expect(iso.toString('latin1', 0x8000, 0x8006)).toBe('\u0001CD001');
    expect(iso.toString('latin1', 0x8028, 0x802e)).toBe('CONFIG');
    expect(iso.indexOf('hello')).toBe(iso.lastIndexOf('hello'));
    expect(buildIso('hello').equals(buildIso('other'))).toBe(false);
  });
});

describe('a server of ISOs', () => {
  it('serves its contents, completely or in part', async () => {
    const server = await startIsoServer();
    try {
      const iso = buildIso('hello');
      const url = server.put('a.iso', iso);
      expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(iso)).toBe(true);
      const part = await fetch(url, { headers: { range: 'bytes=32769-32773' } });
      expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([
        206,
        `bytes 32769-32773/${iso.length}`,
        'CD001',
      ]);
      expect((await fetch(`${url}x`)).status).toBe(404);
      expect(server.seen).toEqual(['GET /a.iso', 'GET /a.iso', 'GET /a.isox']);
    } finally {
      await server.stop();
    }
  });

  it('fails as configured, and no longer', async () => {
    const server = await startIsoServer();
    try {
      const url = server.put('a.iso', buildIso('hello'));
      server.fail('a.iso', 503);
      expect((await fetch(url)).status).toBe(503);
      server.fail('a.iso', 'cut');
      await expect(fetch(url).then((answer) => answer.arrayBuffer())).rejects.toThrow(/fetch failed|terminated/);
      server.fail('a.iso', 'hang');
      expect((await fetch(url, { method: 'HEAD' })).status).toBe(200);
      const hanging = fetch(url);
      await expect.poll(() => server.seen.at(-1)).toBe('GET /a.iso');
      server.fail('a.iso', undefined);
      await expect(hanging).rejects.toThrow(/fetch failed|terminated/);
      await server.setDown(true);
      await expect(fetch(url)).rejects.toThrow(/fetch failed|terminated/);
      await server.setDown(false);
      expect((await fetch(url)).status).toBe(200);
    } finally {
      await server.stop();
    }
  });
});

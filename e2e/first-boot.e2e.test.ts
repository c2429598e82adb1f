import { chmod, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { buildDiskPlan, buildStub } from '@slipway/fleet';
import { parse, translate } from '@slipway/ignition';
import { type Authority, makeAuthority } from '@slipway/testing/certificates';
import { type FakeServer, startFakeServer } from '@slipway/testing/fake-http-server';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { firstBoot, makeBootDirectory, type Boot, type BootOptions } from './first-boot/boot.ts';
import { compareDisk } from './first-boot/compare.ts';
import { richConfig } from './first-boot/rich-config.ts';

// The client alone, against the simplest server there is: what it does is the ground that our server builds on.
let directory: string;
let authority: Authority;
let server: FakeServer;
let unavailable = 0;
const TOKEN = 'a-token';

beforeAll(async () => {
  directory = await makeBootDirectory();
  const body = gzipSync(JSON.stringify(richConfig));
  authority = await makeAuthority('First boot test CA');
  server = await startFakeServer(
    ({ path, headers }, response) => {
      const status = statusFor(path, headers.authorization);
      response.writeHead(status, { 'Retry-After': '1' }).end(status === 200 ? body : '');
    },
    { tls: await authority.issue('config server') },
  );
});
afterAll(async () => {
  await server.stop();
  await rm(directory, { recursive: true });
});

function statusFor(url: string, authorization: string | undefined): number {
  if (url.startsWith('/config/unknown')) return 404;
  if (authorization !== `Bearer ${TOKEN}`) return 401;
  unavailable -= 1;
  return unavailable >= 0 ? 503 : 200;
}

async function computeDiskPlan(config: object) {
  const parsed = parse(config);
  if (parsed.config === null) throw new Error(JSON.stringify(parsed.report));
  const { config: translated, report } = translate(parsed.config, '3.5.0');
  if (translated === null) throw new Error(JSON.stringify(report));
  return buildDiskPlan(translated);
}

for (const { name, client, missing } of inject('ignitionClients')) {
  describe.skipIf(client === undefined)(`Ignition ${name}`, () => {
    const boot = (
      stub: Partial<Parameters<typeof buildStub>[0]> = {},
      options: Partial<BootOptions> = {},
    ): Promise<Boot> => {
      if (client === undefined) throw new Error(missing);
      const pointer = buildStub({
        server: server.url,
        pool: 'worker',
        caBundle: authority.cert,
        token: TOKEN,
        ...stub,
      });
      return firstBoot({ client, pointer, directory: join(directory, name), ...options });
    };

    it('boots from a stub, and its disk is what our plan says', async () => {
      const booted = await boot();
      console.log(`Ignition ${name}: booted in ${booted.ms.toFixed(0)} ms`);
      expect(booted.critical).toEqual([]);
      expect(booted.ok).toBe(true);
      const plan = await computeDiskPlan(richConfig);
      expect(await compareDisk(booted.root, plan)).toEqual([]);
      expect(booted.kernelArguments).toEqual([
        ...plan.kernelArguments.shouldExist.flatMap((argument) => ['--should-exist', argument]),
        ...plan.kernelArguments.shouldNotExist.flatMap((argument) => ['--should-not-exist', argument]),
      ]);
      expect(server.requests.at(-1)?.headers['user-agent']).toMatch(/^Ignition\//);
    });

    it('leaves a disk on which any difference is seen', async () => {
      const { root } = await boot();
      const at = (path: string) => join(root, path);
      await chmod(at('etc/plain'), 0o600);
      await writeFile(at('etc/percent'), 'other');
      await rm(at('etc/soft'));
      await rm(at('etc/hard'));
      await writeFile(at('etc/hard'), 'deep', { mode: 0o400 });
      await rm(at('etc/systemd/system/never.service'));
      await symlink('/dev/null', at('etc/systemd/system/unmasked.service'));
      await writeFile(at('etc/systemd/system-preset/20-ignition.preset'), 'enable other.service\n');
      await writeFile(at('etc/unexpected'), '');
      await rm(at('home/core/.ssh'), { recursive: true });
      await writeFile(at('etc/shadow'), 'core:*:1::::::\n');
      const differences = (await compareDisk(root, await computeDiskPlan(richConfig))).map((line) =>
        line.replace(/ is .*/, ''),
      );
      expect(differences.toSorted()).toEqual(
        [
          '/etc/hard: inode',
          '/etc/percent: other contents than planned (5 bytes, planned 8)',
          '/etc/plain: mode',
          '/etc/soft: planned, and not on the disk',
          '/etc/systemd/system-preset/20-ignition.preset: line "enable other.service"',
          '/etc/systemd/system-preset/20-ignition.preset: no line "enable fleet.service"',
          '/etc/systemd/system-preset/20-ignition.preset: no line "enable unmasked.service"',
          '/etc/systemd/system/never.service: planned, and not on the disk',
          '/etc/systemd/system/unmasked.service: masked',
          '/etc/systemd/system/unmasked.service: on the disk, and not planned',
          '/etc/unexpected: on the disk, and not planned',
          '/home/core/.ssh/authorized_keys.d/ignition: planned, and not on the disk',
          'user core: another password hash than planned',
          'user operator: another password hash than planned',
        ].toSorted(),
      );
    });

    it.each([
      ['a pool that does not exist (404)', { pool: 'unknown' }, 'GET result: Not Found'],
      ['a token that has expired (401)', { token: 'old' }, 'GET result: Unauthorized'],
    ])('gives up at once: %s', async (_, stub, reason) => {
      const booted = await boot(stub);
      expect(booted).toMatchObject({ ok: false, failedIn: 'fetch', timedOut: false });
      expect(booted.logs.fetch).toContain(reason);
      expect(booted.critical.join()).toContain('failed to acquire config');
      expect(booted.ms).toBeLessThan(10_000);
      expect(booted.logs.fetch).toContain('attempt #1');
      expect(booted.logs.fetch).not.toContain('attempt #2');
    });

    it('asks again while the server is not ready (503), and then boots', async () => {
      unavailable = 3;
      const booted = await boot();
      expect(booted.critical).toEqual([]);
      expect(booted.logs.fetch).toContain('attempt #4');
      // It waits 200, 400 and 800 ms: its own rhythm, whatever Retry-After says.
      expect(booted.ms).toBeGreaterThan(1400);
    });

    it('asks for ever where it does not know the CA', async () => {
      const other = await makeAuthority('Another CA');
      const booted = await boot({ caBundle: other.cert }, { timeoutMs: 3000 });
      expect(booted).toMatchObject({ ok: false, failedIn: 'fetch', timedOut: true });
      expect(booted.logs.fetch).toMatch(/certificate signed by unknown authority/);
      expect(booted.logs.fetch).toContain('attempt #3');
    });
  });
}

import type { MachineConfig } from '@slipway/api';
import { encodeDataUrl, gzip, parse, resolve } from '@slipway/ignition';
import { describe, expect, it } from 'vitest';
import { snapshotDigest } from '../render/pack-snapshot.ts';
import { contentLimits, recoverSnapshot, resolveContent } from './resolve-content.ts';
import { filesFrom, machineConfigWith } from './testing/objects.ts';

const source = { hosts: {}, limits: contentLimits };
const nothing = () =>
  Promise.resolve({ ok: false as const, problem: 'the server returned 404: there is no such file' });

describe('the remote content of a MachineConfig', () => {
  it('that cannot be fetched is reported with object, field, masked URL, reason and what to do', async () => {
    const config = filesFrom({ '/etc/motd': 'https://core:secret@files.example.com/motd?token=secret' });
    const resolved = await resolveContent(machineConfigWith({ config }), { ...source, fetch: nothing });
    expect(resolved).toEqual({
      ok: false,
      problems: [
        {
          code: 'SLW_RESOLVE_FETCH',
          field: 'spec.config.storage.files[0].contents.source',
          message: expect.stringMatching(
            /^MachineConfig 99-worker-remote, spec\.config\.storage\.files\[0\].*https:\/\/…@files\.example\.com\/motd\?….*404.*retries automatically/,
          ),
        },
      ],
    });
    expect(JSON.stringify(resolved)).not.toContain('secret');
  });

  it('is not fetched for a config that cannot be read: the problems are those of a render', async () => {
    const config = { storage: { files: 7, links: [{ path: '/x', target: 'https://files.example.com' }] } };
    let fetches = 0;
    const resolved = await resolveContent(machineConfigWith({ config }), {
      ...source,
      fetch: () => {
        fetches += 1;
        return nothing();
      },
    });
    expect(resolved).toMatchObject({ ok: false, problems: [{ code: expect.stringMatching(/^SLW_RENDER_/) }] });
    expect(fetches).toBe(0);
  });

  it('has its problems truncated to fit into an annotation', async () => {
    const paths = Array.from({ length: 100 }, (_, number) => `/etc/${number}`);
    const config = filesFrom(Object.fromEntries(paths.map((path) => [path, `https://files.example.com${path}`])));
    const long = () => Promise.resolve({ ok: false as const, problem: 'x'.repeat(100_000) });
    const resolved = await resolveContent(machineConfigWith({ config }), { ...source, fetch: long });
    expect(resolved).toMatchObject({ ok: false });
    expect(JSON.stringify(resolved).length).toBeLessThan(100_000);
  });
});

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const inline = (text: string): string => encodeDataUrl(bytes(text));
const rendered = (files: Record<string, string>): MachineConfig =>
  machineConfigWith({ name: 'rendered-worker-x', config: filesFrom(files) });

const remote = machineConfigWith({
  config: filesFrom({
    '/etc/motd': 'https://files.example.com/motd#welcome',
    '/etc/issue': 'http://127.0.0.1/issue',
    '/etc/own': inline('own'),
  }),
});

/** The digest of the content that was fetched. */
async function digestAt(machineConfig: MachineConfig, servers: Record<string, Uint8Array>): Promise<string> {
  const { config } = parse(machineConfig.spec?.config ?? {});
  if (config === null) throw new Error('not a config');
  const fetch = ({ url }: { url: string }) =>
    Promise.resolve({ ok: true as const, bytes: servers[url] ?? new Uint8Array() });
  const hosts = { allowAddresses: ['127.0.0.0/8'] };
  return snapshotDigest((await resolve(config, { name: 'x', fetch, hosts, compress: false })).config);
}

const servers = { 'https://files.example.com/motd': bytes('hello'), 'http://127.0.0.1/issue': bytes('machine') };

describe('a lost snapshot', () => {
  it('is recovered from a rendered config that has the same files', async () => {
    const digest = await digestAt(remote, servers);
    const others = [rendered({}), rendered({ '/etc/motd': inline('hello'), '/etc/issue': inline('other') })];
    const good = rendered({ '/etc/motd': inline('hello'), '/etc/issue': inline('machine') });
    expect(await recoverSnapshot(remote, digest, [...others, good])).toMatchObject({ digest });
    expect(await recoverSnapshot(remote, digest, others)).toBeUndefined();
  });

  it('is recovered from contents that the render compressed', async () => {
    const digest = await digestAt(remote, servers);
    const packed = machineConfigWith({
      config: {
        storage: {
          files: [
            { path: '/etc/motd', contents: { source: encodeDataUrl(await gzip(bytes('hello'))), compression: 'gzip' } },
            { path: '/etc/issue', contents: { source: inline('machine') } },
          ],
        },
      },
    });
    expect(await recoverSnapshot(remote, digest, [packed])).toMatchObject({ digest });
  });

  it('is recovered as the server compressed it', async () => {
    const source = 'https://files.example.com/motd.gz';
    const files = [{ path: '/etc/motd', contents: { source, compression: 'gzip' } }];
    const compressed = machineConfigWith({ config: { storage: { files } } });
    const body = await gzip(bytes('hello'));
    const digest = await digestAt(compressed, { [source]: body });
    const kept = [{ path: '/etc/motd', contents: { source: encodeDataUrl(body), compression: 'gzip' } }];
    const good = machineConfigWith({ config: { storage: { files: kept } } });
    expect(await recoverSnapshot(compressed, digest, [good])).toMatchObject({ digest });
  });

  it('stays lost when it came from a config that was merged by reference', async () => {
    const merging = machineConfigWith({
      config: { ignition: { version: '3.5.0', config: { merge: [{ source: 'https://files.example.com/base.ign' }] } } },
    });
    const base = { ignition: { version: '3.5.0' }, ...filesFrom({ '/etc/motd': inline('hello') }) };
    const digest = await digestAt(merging, { 'https://files.example.com/base.ign': bytes(JSON.stringify(base)) });
    expect(await recoverSnapshot(merging, digest, [rendered({ '/etc/motd': inline('hello') })])).toBeUndefined();
  });
});

import { describe, expect, it } from 'vitest';
import { contentLimits, resolveContent } from './resolve-content.ts';
import { filesFrom, machineConfigWith } from './testing/objects.ts';

const source = { hosts: {}, limits: contentLimits };
const nothing = () => Promise.resolve({ ok: false as const, problem: 'the server answers 404: there is no such file' });

describe('the remote content of a MachineConfig', () => {
  it('that cannot be had is reported with object, field, masked URL, reason and way out', async () => {
    const config = filesFrom({ '/etc/motd': 'https://core:secret@files.example.com/motd?token=secret' });
    const resolved = await resolveContent(machineConfigWith({ config }), { ...source, fetch: nothing });
    expect(resolved).toEqual({
      ok: false,
      problems: [
        {
          code: 'SLW_RESOLVE_FETCH',
          field: 'spec.config.storage.files[0].contents.source',
          message: expect.stringMatching(
            /^MachineConfig 99-worker-remote, storage\.files\[0\].*https:\/\/…@files\.example\.com\/motd\?….*404.*tried again/,
          ),
        },
      ],
    });
    expect(JSON.stringify(resolved)).not.toContain('secret');
  });

  it('is not fetched for a config that cannot be read: a render would say the same', async () => {
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

  it('has its problems cut to what an annotation can hold', async () => {
    const paths = Array.from({ length: 100 }, (_, number) => `/etc/${number}`);
    const config = filesFrom(Object.fromEntries(paths.map((path) => [path, `https://files.example.com${path}`])));
    const long = () => Promise.resolve({ ok: false as const, problem: 'x'.repeat(100_000) });
    const resolved = await resolveContent(machineConfigWith({ config }), { ...source, fetch: long });
    expect(resolved).toMatchObject({ ok: false });
    expect(JSON.stringify(resolved).length).toBeLessThan(100_000);
  });
});

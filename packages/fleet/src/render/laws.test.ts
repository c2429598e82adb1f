import type { MachineConfig } from '@slipway/api';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { remoteReferences } from './remote.ts';
import { canonicalJson } from './rendered-name.ts';
import { file, ignition, machineConfig, renderOk } from './testing/sample.ts';

const paths = fc.constantFrom('/etc/a', '/etc/b', '/etc/c/d', '/opt/e');
const text = fc.string({ maxLength: 20 });

const files = fc.uniqueArray(
  fc
    .tuple(paths, text, fc.constantFrom(undefined, 0o600, 0o644), fc.boolean())
    .map(([path, contents, mode, owned]) =>
      file(path, contents, { ...(mode === undefined ? {} : { mode }), ...(owned ? { user: { name: 'core' } } : {}) }),
    ),
  { selector: (each) => Reflect.get(each, 'path'), maxLength: 4 },
);

const units = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom('a.service', 'b.timer'),
    enabled: fc.boolean(),
    contents: fc.constantFrom('[Unit]\n', '[Service]\nExecStart=/bin/true\n'),
  }),
  { selector: ({ name }) => name, maxLength: 2 },
);

const users = fc
  .uniqueArray(fc.constantFrom('ssh-ed25519 AAAA one', 'ssh-ed25519 BBBB two'), { minLength: 1, maxLength: 2 })
  .map((sshAuthorizedKeys) => [{ name: 'core', sshAuthorizedKeys }]);

const spec = fc.record(
  {
    config: fc.record({ files, units, users }, { requiredKeys: [] }).map((each) =>
      ignition({
        ...(each.files === undefined ? {} : { storage: { files: each.files } }),
        ...(each.units === undefined ? {} : { systemd: { units: each.units } }),
        ...(each.users === undefined ? {} : { passwd: { users: each.users } }),
      }),
    ),
    kernelArguments: fc.array(fc.constantFrom('nosmt', 'console=ttyS0', 'quiet'), { maxLength: 3 }),
    kernelType: fc.constantFrom('', 'default', 'realtime', '64k-pages'),
    extensions: fc.array(fc.constantFrom('usbguard', 'ipsec'), { maxLength: 3 }),
    fips: fc.boolean(),
    osImageURL: fc.constantFrom('', 'quay.io/os:1', 'quay.io/os:2'),
  },
  { requiredKeys: [] },
);

const fleet = fc
  .array(spec, { minLength: 1, maxLength: 6 })
  .map((specs) => specs.map((each, index): MachineConfig => machineConfig(`${50 + index}-worker`, each)));

const check = (property: (configs: MachineConfig[]) => Promise<void>) =>
  fc.assert(fc.asyncProperty(fleet, property), { numRuns: 60 });

describe('for any MachineConfigs', () => {
  it('their order changes neither name nor bytes', async () => {
    const shuffled = fleet.chain((configs) =>
      fc.tuple(fc.constant(configs), fc.shuffledSubarray(configs, { minLength: configs.length })),
    );
    await fc.assert(
      fc.asyncProperty(shuffled, async ([configs, other]) => {
        const [a, b] = [await renderOk(configs), await renderOk(structuredClone(other))];
        expect(b.rendered).toEqual(a.rendered);
        expect(JSON.stringify(b.rendered)).toBe(JSON.stringify(a.rendered));
      }),
      { numRuns: 60 },
    );
  });

  it('an empty one changes only the sources', async () => {
    await check(async (configs) => {
      const { rendered } = await renderOk(configs);
      for (const name of ['00-first', '99-last']) {
        const more = (await renderOk([...configs, machineConfig(name)])).rendered;
        expect(more.name).toBe(rendered.name);
        expect(more.spec).toEqual(rendered.spec);
        expect(more.sources).toHaveLength(rendered.sources.length + 1);
      }
    });
  });

  it('rendering a rendered spec alone returns it unchanged', async () => {
    await check(async (configs) => {
      const { rendered } = await renderOk(configs);
      const again = (await renderOk([machineConfig('only', rendered.spec)])).rendered;
      expect(again.name).toBe(rendered.name);
      expect(canonicalJson(again.spec)).toBe(canonicalJson(rendered.spec));
    });
  });

  it('the result has no reference to remote content', async () => {
    await check(async (configs) => {
      expect(remoteReferences((await renderOk(configs)).rendered.spec)).toEqual([]);
    });
  });

  it('provenance names only the MachineConfigs, in merge order', async () => {
    await check(async (configs) => {
      const { provenance } = await renderOk(configs);
      const names = configs.map(({ metadata }) => metadata.name);
      expect(provenance.inputs).toEqual(names);
      for (const { from, overrode } of [
        ...[...provenance.config].map(([, origin]) => origin),
        ...provenance.settings(),
      ]) {
        const places = [...overrode, from].map((name) => names.indexOf(name));
        expect(places).not.toContain(-1);
        expect(places).toEqual(places.toSorted((a, b) => a - b));
      }
    });
  });

  it('the inputs are not modified', async () => {
    await check(async (configs) => {
      const before = structuredClone(configs);
      await renderOk(configs);
      expect(configs).toEqual(before);
    });
  });
});

import { describe, expect, it } from 'vitest';
import { ownOwners } from './host/file-system.ts';
import { emptyImage } from './host/testing/disk-image.ts';
import { createMemoryDisk } from './host/testing/memory-disk.ts';
import { CURRENT_CONFIG } from './state-file.ts';
import { encodeStoredConfig, parseStoredConfig, readCurrentConfig, writeCurrentConfig } from './stored-config.ts';

const config = {
  name: 'rendered-worker-a',
  spec: { config: { ignition: { version: '3.5.0' } }, kernelArguments: ['quiet'], fips: false },
};

async function disk() {
  const files = createMemoryDisk(emptyImage(ownOwners()));
  await files.makeDirectory('/etc', { ...ownOwners(), mode: 0o755 });
  return files;
}

describe('the current config of a machine', () => {
  it('is stored as a complete MachineConfig, readable by root only, and read back', async () => {
    const files = await disk();
    expect(await readCurrentConfig(files)).toBeNull();
    await writeCurrentConfig(files, config);
    expect(await readCurrentConfig(files)).toEqual(config);
    expect(await files.lookAt(CURRENT_CONFIG)).toMatchObject({ mode: 0o600 });
    expect(JSON.parse(Buffer.from(await files.read(CURRENT_CONFIG, 10_000)).toString())).toMatchObject({
      apiVersion: 'machineconfiguration.openshift.io/v1',
      kind: 'MachineConfig',
    });
  });

  it('that is truncated is reported with its path and what to do', async () => {
    const files = await disk();
    await writeCurrentConfig(files, config);
    const bytes = await files.read(CURRENT_CONFIG, 10_000);
    await files.remove(CURRENT_CONFIG);
    await files.createFile(CURRENT_CONFIG, { ...ownOwners(), mode: 0o600, bytes: bytes.subarray(0, 50) });
    await expect(readCurrentConfig(files)).rejects.toMatchObject({
      code: 'SLW_DAEMON_CONFIG',
      message: expect.stringMatching(
        /^\/etc\/machine-config-daemon\/currentconfig .*expected JSON.*install the machine/,
      ),
    });
  });

  it.each([
    ['another kind', { kind: 'Secret' }, 'expected MachineConfig'],
    ['no name', { metadata: {} }, 'metadata.name'],
    ['no spec', { spec: null }, 'spec: expected'],
    ['a list of metadata', { metadata: ['secret'] }, 'metadata.name'],
    ['a list for its spec', { spec: ['secret'] }, 'spec: expected'],
    [
      'kernel arguments that are not a list',
      { spec: { kernelArguments: 'secret' } },
      'spec.kernelArguments: expected a list',
    ],
    ['a config that is a string', { spec: { config: 'secret' } }, 'spec.config: expected an Ignition config'],
  ])('is rejected with %s, without quoting what may be secret', (_, change, message) => {
    const whole = JSON.parse(encodeStoredConfig(config)) as object;
    const bytes = Buffer.from(JSON.stringify({ ...whole, ...change }));
    expect(() => parseStoredConfig(bytes)).toThrow(message);
    expect(() => parseStoredConfig(bytes)).not.toThrow('secret');
  });
});

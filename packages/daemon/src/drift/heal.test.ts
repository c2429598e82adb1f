import { createSimulatedHost, listRecordedActions, makeSimulatedMachine } from '@slipway/simulator';
import { describe, expect, it } from 'vitest';
import { type FileSystem, makeDirectories, ownOwners, readText, replaceFile } from '../host/file-system.ts';
import type { Host } from '../host/host.ts';
import { copyImage, type DiskImage, emptyImage } from '../host/testing/disk-image.ts';
import { createFaultyDisk, type Fault } from '../host/testing/faults.ts';
import { createMemoryDisk, type Note } from '../host/testing/memory-disk.ts';
import { disksAfterCuts } from '../host/testing/power-cut.ts';
import { heal } from './heal.ts';
import { bringTo, bytes, IMAGE, sampleConfig, sampleFile, SERVICE } from './testing/sample-machine.ts';
import { verifyMachine } from './verify-machine.ts';

const owners = ownOwners();
const UNIT = '/etc/systemd/system/sample.service';
const SSH = '/home/core/.ssh';
const config = sampleConfig('rendered-worker-1', {
  files: [sampleFile('/etc/a.conf', 'of the config\n'), sampleFile('/etc/deep/b.conf', 'b\n')],
  links: [{ path: '/etc/link', target: 'a.conf' }],
  units: [{ name: 'sample.service', enabled: true, contents: SERVICE }],
  users: [{ name: 'core', sshAuthorizedKeys: ['ssh-ed25519 AAAA me'] }],
});

const hostOn = (files: FileSystem): Host => createSimulatedHost({ root: '/', files });

/** At the config, then drifted: a file, a link and a unit differ, two files are gone with their directories. */
async function driftedImage(): Promise<DiskImage> {
  const image = emptyImage(owners);
  const files = createMemoryDisk(image);
  await makeSimulatedMachine(files, { osImage: IMAGE });
  await bringTo(hostOn(files), config);
  await put(files, '/etc/a.conf', 'theirs\n');
  await put(files, UNIT, `${SERVICE}\n# theirs\n`);
  await files.remove('/etc/deep/b.conf');
  await files.removeDirectory('/etc/deep');
  await files.remove('/etc/link');
  await files.makeLink('/etc/link', { ...owners, target: 'elsewhere' });
  await files.remove(`${SSH}/authorized_keys.d/ignition`);
  await files.removeDirectory(`${SSH}/authorized_keys.d`);
  await files.removeDirectory(SSH);
  return image;
}

const put = (files: FileSystem, path: string, text: string) =>
  replaceFile(files, path, { ...owners, bytes: bytes(text), mode: 0o644 });

async function drifted(): Promise<{ files: FileSystem; host: Host }> {
  const files = createMemoryDisk(await driftedImage());
  return { files, host: hostOn(files) };
}

async function healAll(host: Host): Promise<string[]> {
  const problems = await heal(host, config, await verifyMachine(host, config));
  return problems.map(({ message }) => message);
}

/** Complete, and not a mix of both. */
async function expectOldOrNew(files: FileSystem): Promise<void> {
  expect(['theirs\n', 'of the config\n']).toContain(await readText(files, '/etc/a.conf', 100));
  expect([SERVICE, `${SERVICE}\n# theirs\n`]).toContain(await readText(files, UNIT, 1000));
  expect([undefined, 'b\n']).toContain(await readText(files, '/etc/deep/b.conf', 100));
  expect(await files.lookAt('/etc/link')).toMatchObject({ target: expect.stringMatching(/^(?:elsewhere|a\.conf)$/) });
}

async function expectHealed(files: FileSystem): Promise<void> {
  expect(await healAll(hostOn(files))).toEqual([]);
  expect(await verifyMachine(hostOn(files), config)).toEqual([]);
  for (const directory of ['/etc', '/etc/deep', '/etc/systemd/system', `${SSH}/authorized_keys.d`]) {
    expect((await files.list(directory)).filter((name) => name.startsWith('.slipway-'))).toEqual([]);
  }
}

const FAULTS: readonly Fault[] = [
  { kind: 'stop', when: 'before' },
  { kind: 'stop', when: 'half way' },
  { kind: 'stop', when: 'after' },
  { kind: 'error', code: 'ENOSPC' },
  { kind: 'error', code: 'EIO' },
  { kind: 'from there on', code: 'EROFS' },
];

describe('healing', () => {
  it.each(FAULTS)(
    'leaves each item either drifted or healed when it is interrupted anywhere by %j, and can be repeated',
    async (fault) => {
      const image = await driftedImage();
      const drifts = await verifyMachine(hostOn(createMemoryDisk(copyImage(image))), config);
      expect(drifts).toHaveLength(5);
      let cuts = 0;
      for (let at = 0; ; at += 1) {
        const disk = createMemoryDisk(copyImage(image));
        const faulty = createFaultyDisk(disk, { at, of: 'changes', fault });
        await Promise.race([heal(hostOn(faulty.files), config, drifts), faulty.stopped]);
        if (faulty.hit() === undefined) break;
        cuts += 1;
        await expectOldOrNew(disk);
        await expectHealed(disk);
      }
      expect(cuts).toBeGreaterThanOrEqual(5);
    },
  );

  it('leaves each item complete, either drifted or healed, after a power cut', async () => {
    const image = await driftedImage();
    const notes: Note[] = [];
    const disk = createMemoryDisk(copyImage(image), (note) => notes.push(note));
    expect(await healAll(hostOn(disk))).toEqual([]);
    let disks = 0;
    for (const { disk: left } of disksAfterCuts(image, notes, { subsets: 'few' })) {
      disks += 1;
      const files = createMemoryDisk(left);
      await expectOldOrNew(files);
      await expectHealed(files);
    }
    expect(disks).toBeGreaterThan(20);
  });

  it('reports what it could not heal, and heals the rest', async () => {
    const { files, host } = await drifted();
    await files.remove('/etc/link');
    // In the way, with user-managed contents.
    await makeDirectories(files, '/etc/link/theirs', owners);
    expect(await healAll(host)).toEqual([
      expect.stringMatching(
        /^link \/etc\/link: expected a link, found a directory; it could not be reverted: .*ENOTEMPTY/,
      ),
    ]);
    expect((await verifyMachine(host, config)).map(({ name }) => name)).toEqual(['/etc/link']);
  });

  it('reloads the unit files when it healed one, and restarts nothing', async () => {
    const { files, host } = await drifted();
    const before = (await listRecordedActions(files)).length;
    await healAll(host);
    expect((await listRecordedActions(files)).slice(before).map(({ what }) => what)).toEqual(['daemon-reload']);
  });

  it('does not write ssh keys through a link of the user', async () => {
    const { files, host } = await drifted();
    await files.makeLink(SSH, { ...owners, target: '/etc' });
    expect(await healAll(host)).toEqual([expect.stringContaining(`${SSH}: expected a directory`)]);
    expect(await files.lookAt('/etc/authorized_keys.d')).toBeNull();
  });

  it('does not write ssh keys to the file that users edit', async () => {
    const { files, host } = await drifted();
    await makeDirectories(files, SSH, owners);
    await put(files, `${SSH}/authorized_keys`, 'ssh-ed25519 BBBB mine\n');
    expect(await healAll(host)).toEqual([]);
    expect(await readText(files, `${SSH}/authorized_keys`, 100)).toBe('ssh-ed25519 BBBB mine\n');
    expect(await verifyMachine(host, config)).toEqual([]);
  });
});

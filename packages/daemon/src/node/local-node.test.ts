import { existsSync, writeFileSync } from 'node:fs';
import { makeSimulatedMachine } from '@slipway/simulator';
import { describe, expect, it } from 'vitest';
import { sampleMachine } from '../drift/testing/sample-machine.ts';
import { ownOwners } from '../host/file-system.ts';
import { emptyImage } from '../host/testing/disk-image.ts';
import { createMemoryDisk } from '../host/testing/memory-disk.ts';
import { isForced, type NodeMemory, readMemory, takeForceFile, writeMemory } from './local-node.ts';

async function diskOfMachine() {
  const files = createMemoryDisk(emptyImage(ownOwners()));
  await makeSimulatedMachine(files);
  return files;
}

it('a node remembers everything, readable by root only', async () => {
  const files = await diskOfMachine();
  const difference = {
    code: 'SLW_UPDATE_IRRECONCILABLE',
    field: 'spec.x',
    before: null,
    after: '1',
    message: 'no',
  } as const;
  const memory: NodeMemory = {
    reported: 'a',
    held: 'b',
    failed: { target: 'c', problem: { code: 'SLW_X', message: 'no' } },
    update: { target: 'd', drain: true, os: false, image: true, reboot: true, postAction: '' },
    lacks: [difference],
    willLack: [],
  };
  await writeMemory(files, memory);
  expect(await readMemory(files)).toEqual(memory);
  expect(await files.lookAt('/etc/machine-config-daemon/daemon.json')).toMatchObject({ mode: 0o600 });
});

it.each([
  ['nothing', {}],
  ['null', {}],
  ['[]', {}],
  ['[{"reported":"a"}]', {}],
  ['{"reported":1,"failed":{"target":"c"},"update":{},"lacks":[1]}', { lacks: [] }],
  ['{"reported":["a"],"failed":["c"],"update":["d"],"lacks":[["spec.x"]],"willLack":{}}', { lacks: [] }],
  ['{"failed":{"target":"c","problem":["SLW_X","no"]}}', {}],
  ['{"rep', {}],
])('a node drops what it cannot read: %s', async (text, expected) => {
  const files = await diskOfMachine();
  await writeMemory(files, {});
  await files.remove('/etc/machine-config-daemon/daemon.json');
  const bytes = new TextEncoder().encode(text);
  await files.createFile('/etc/machine-config-daemon/daemon.json', { ...ownOwners(), mode: 0o600, bytes });
  expect(await readMemory(files)).toEqual(expected);
});

describe('the force file', () => {
  it('counts once', async () => {
    const { host, at } = await sampleMachine();
    expect(await isForced(host.files)).toBe(false);
    expect(await takeForceFile(host.files)).toBe(false);
    writeFileSync(at('/run/machine-config-daemon-force'), '');
    expect(await isForced(host.files)).toBe(true);
    expect(await takeForceFile(host.files)).toBe(true);
    expect(existsSync(at('/run/machine-config-daemon-force'))).toBe(false);
    expect(await takeForceFile(host.files)).toBe(false);
  });
});

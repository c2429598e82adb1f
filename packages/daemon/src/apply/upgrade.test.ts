import { createSimulatedHost } from '@slipway/simulator';
import { describe, expect, it } from 'vitest';
import { verifyMachine } from '../drift/verify-machine.ts';
import type { FileSystem } from '../host/file-system.ts';
import { copyImage } from '../host/testing/disk-image.ts';
import { createFaultyDisk } from '../host/testing/faults.ts';
import { createMemoryDisk } from '../host/testing/memory-disk.ts';
import { judge, makeSample } from './testing/sample.ts';
import { createUpdater, type UpdateStep } from './updater.ts';

function programOn(files: FileSystem, programVersion: string) {
  const host = createSimulatedHost({ root: '/', files });
  const steps: UpdateStep[] = [];
  const onStep = (step: UpdateStep): void => void steps.push(step);
  return { steps, ...createUpdater({ host, programVersion, onStep, verify: (config) => verifyMachine(host, config) }) };
}

describe('a program that is upgraded during an update', () => {
  it('continues from the journal of the previous version, and reports it', { timeout: 30_000 }, async () => {
    const sample = await makeSample('update');
    const told = new Set<string>();
    const ends = { old: 0, new: 0, 'a mix': 0 };
    // Every fifth call is enough: other tests cover every call with the same version.
    for (let at = 0; ; at += 5) {
      const files = createMemoryDisk(copyImage(sample.image));
      const cut = createFaultyDisk(files, { at, of: 'changes', fault: { kind: 'stop', when: 'before' } });
      const update = programOn(cut.files, '1.0.0').apply(sample.update);
      const isOver = await Promise.race([update.then(() => true), cut.stopped.then(() => false)]);
      if (isOver) break;
      const newer = programOn(files, '2.0.0');
      const verdict = await judge(files, sample, await newer.recover());
      ends[verdict.at] += 1;
      for (const { text } of newer.steps) told.add(text);
    }
    expect(ends).toMatchObject({ 'a mix': 0 });
    expect(ends.new).toBeGreaterThan(3);
    expect([...told].join('\n')).toContain('which version 1.0.0 started; this is version 2.0.0');
  });
});

import { describe, expect, it } from 'vitest';
import { readRenderedFrom, sourceChanges } from './rendered-from.ts';

const from = (name: string, digest: string) => ({ name, generation: 1, digest });

describe('the MachineConfigs of a rendered config', () => {
  it('read back as they were written', () => {
    const sources = [from('00-worker', 'a'), from('99-motd', 'b')];
    expect(readRenderedFrom(JSON.stringify(sources))).toEqual(sources);
  });

  it.each([undefined, '', 'no JSON', '{}', '[1]', '[{"name":"a"}]', '[{"name":1,"generation":1,"digest":""}]'])(
    'are not known where the annotation is %j',
    (text) => {
      expect(readRenderedFrom(text)).toBeNull();
    },
  );

  it('say what came, went and changed', () => {
    expect(
      sourceChanges([from('b', '1'), from('a', '1'), from('c', '1')], [from('c', '2'), from('d', '1'), from('a', '1')]),
    ).toEqual([
      { name: 'b', change: 'removed' },
      { name: 'c', change: 'changed' },
      { name: 'd', change: 'added' },
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import { findHierarchies } from './cgroup.ts';

describe('the hierarchies that a node needs a cgroup in', () => {
  it.each([
    ['version 2 alone', ['cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0'], ['/sys/fs/cgroup']],
    [
      'both versions',
      [
        'tmpfs /sys/fs/cgroup tmpfs rw,relatime 0 0',
        'cgroup /sys/fs/cgroup/memory cgroup rw,relatime,memory 0 0',
        'cgroup /sys/fs/cgroup/systemd cgroup rw,relatime,name=systemd 0 0',
        'cgroup2 /sys/fs/cgroup/unified cgroup2 rw,relatime 0 0',
      ],
      ['/sys/fs/cgroup/systemd', '/sys/fs/cgroup/unified'],
    ],
    ['none that may be written, as in most containers', ['cgroup /sys/fs/cgroup cgroup2 ro,nosuid 0 0'], []],
  ])('%s', (_, mounts, expected) => {
    expect(findHierarchies(`${mounts.join('\n')}\n`)).toEqual(expected);
  });
});

import { describe, expect, it } from 'vitest';
import { whyModeRefused } from './ignition.ts';

describe('the mode of a file', () => {
  it.each([0, 0o600, 0o644, 0o777])('may be %d', (mode) => expect(whyModeRefused(mode)).toBeNull());

  it.each([
    [644, 'the mode 644 (octal 01204)', 'for octal 0644 write 420, or 0644 in YAML'],
    [755, 'the mode 755 (octal 01363)', 'for octal 0755 write 493'],
    [0o1777, 'the mode 1023 (octal 01777)', 'permission bits only'],
    [0o4755, 'the mode 2541 (octal 04755)', 'permission bits only'],
    [0o1000, 'the mode 512 (octal 01000)', 'for octal 0512 write 330'],
    [-1, 'the mode -1 is', 'permission bits only'],
  ])('may not be %d, and the message explains what to write', (mode, found, wayOut) => {
    expect(whyModeRefused(mode)).toContain(found);
    expect(whyModeRefused(mode)).toContain(wayOut);
  });
});

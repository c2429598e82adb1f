import { describe, expect, it } from 'vitest';
import { findLinkControl, isTrustedUser, mayFollowLink } from './link-rule.ts';

const root = { uid: 0, gid: 0, mode: 0o755 };
const home = { uid: 1000, gid: 1000, mode: 0o700 };
const OTHER = 1001;

describe('a link is followed', () => {
  it.each([
    ['of root in a directory of root', [root], 0, 0, true],
    ['of root in a directory of root, to a user', [root], 0, 1000, true],
    ['of root, to nothing', [root], 0, undefined, true],
    ['of a user, to a directory of that user', [root, home], 1000, 1000, true],
    ['of a user, to root', [root, home], 1000, 0, false],
    ['of a user, to another user', [root, home], 1000, OTHER, false],
    ['of a user, to nothing', [root, home], 1000, undefined, false],
    ['of a user in a directory of root, to root', [root], 1000, 0, false],
    ['of a user in a directory of root, to that user', [root], 1000, 1000, true],
    ['of root, which the owner of the directory can move there', [root, home], 0, 0, false],
    ['of root, to the owner of the directory', [root, home], 0, 1000, true],
    ['of root in a directory of root that a user can move', [root, home, root], 0, 0, false],
    ['of one user in a directory of another', [root, home], OTHER, 1000, false],
    ['of root in a sticky directory for all', [root, { ...root, mode: 0o1777 }], 0, 0, true],
    ['of a user in a sticky directory for all, to root', [root, { ...root, mode: 0o1777 }], 1000, 0, false],
    ['of root in a directory that all can change', [root, { ...root, mode: 0o777 }], 0, 0, false],
    ['of a user in a directory that all can change', [root, { ...root, mode: 0o777 }], 1000, 1000, false],
    ['of root in a directory that a group can change', [root, { ...root, gid: 50, mode: 0o775 }], 0, 0, false],
    ['of root in a directory that the group of root can change', [root, { ...root, mode: 0o775 }], 0, 0, true],
    ['of a user whose private group can change it too', [root, { ...home, mode: 0o775 }], 1000, 1000, true],
  ] as const)('or not: %s', (_, directories, linkOwner, targetOwner, follows) => {
    expect(mayFollowLink(findLinkControl(directories, linkOwner), targetOwner)).toBe(follows);
  });

  it('of the user of this process, who owns the whole machine in a simulation', () => {
    expect(isTrustedUser(process.geteuid?.() ?? 0)).toBe(true);
    expect(isTrustedUser(0)).toBe(true);
    expect(isTrustedUser(4_000_000)).toBe(false);
  });
});

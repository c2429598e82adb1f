// Users in spec 2.x: the old `create` object may not be mixed with the fields that replaced it.
import type { Findings } from '../report.ts';
import type { Config2 } from '../spec/index.ts';

type User = NonNullable<NonNullable<Config2['passwd']>['users']>[number];

const REPLACED = [
  ...(['gecos', 'groups', 'homeDir', 'noCreateHome', 'noLogInit'] as const),
  ...(['noUserGroup', 'primaryGroup', 'shell', 'system', 'uid'] as const),
];

export function checkUsers2(users: readonly User[], findings: Findings): void {
  users.forEach((user, index) => {
    if (user.create === undefined) return;
    const at = `passwd.users[${index}]`;
    findings.warn(`${at}.create`, 'create is deprecated: set its fields on the user');
    for (const name of REPLACED) {
      if (user[name] !== undefined) findings.error(`${at}.${name}`, `${name} cannot be set beside create: keep one`);
    }
  });
}

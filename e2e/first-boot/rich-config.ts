import { gzipSync } from 'node:zlib';

const key = (name: string) => `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${'A'.repeat(43)} ${name}`;
const base64 = (bytes: Uint8Array) => `data:;base64,${Buffer.from(bytes).toString('base64')}`;

/** One of everything that a config can ask of a disk without partitions. Both clients know spec 3.3. */
export const richConfig = {
  ignition: { version: '3.3.0' },
  kernelArguments: { shouldExist: ['nosmt', 'audit=0'], shouldNotExist: ['quiet'] },
  passwd: {
    groups: [{ name: 'operators', gid: 2000 }],
    users: [
      {
        name: 'core',
        sshAuthorizedKeys: [key('one@example.com'), key('two@example.com')],
        passwordHash:
          '$6$saltsalt$qFmFH.bQmmtXzyBY0s9v7Oicd2z4XSIecDzlB5KiA2/jctKu9YterLp8wwnSq.qc.eoxqOmSuNp2xS0ktL3nh/',
        groups: ['wheel', 'adm'],
      },
      {
        name: 'operator',
        uid: 1500,
        gecos: 'On duty',
        primaryGroup: 'operators',
        groups: ['systemd-journal'],
        shell: '/bin/sh',
        homeDir: '/var/home/operator',
        sshAuthorizedKeys: [key('three@example.com')],
      },
    ],
  },
  storage: {
    directories: [
      { path: '/etc/fleet' },
      { path: '/var/lib/fleet/data', mode: 0o750, user: { name: 'operator' }, group: { id: 2000 } },
    ],
    files: [
      { path: '/etc/plain', contents: { source: 'data:,plain%20text%0A' } },
      { path: '/etc/percent', mode: 0o600, contents: { source: 'data:text/plain;charset=utf-8,gr%C3%BC%C3%9Fe%0A' } },
      { path: '/etc/base64', mode: 0o755, contents: { source: base64(Uint8Array.of(0, 1, 2, 253, 254, 255)) } },
      {
        path: '/etc/compressed',
        mode: 0o640,
        group: { name: 'adm' },
        contents: { source: base64(gzipSync('squeezed\n'.repeat(1000))), compression: 'gzip' },
      },
      { path: '/etc/empty', mode: 0o444 },
      { path: '/etc/also-empty', contents: { source: 'data:,' } },
      {
        path: '/etc/appended',
        contents: { source: 'data:,one%0A' },
        append: [{ source: 'data:,two%0A' }, { source: base64(gzipSync('three\n')), compression: 'gzip' }],
      },
      { path: '/etc/only-appended', append: [{ source: 'data:,end%0A' }] },
      {
        path: '/etc/fleet/owned',
        user: { id: 1500 },
        group: { name: 'operators' },
        contents: { source: 'data:,mine' },
      },
      { path: '/etc/selinux/config', overwrite: true, contents: { source: 'data:,SELINUXTYPE%3Dnone%0A' } },
      { path: '/opt/deep/er/still/file', mode: 0o400, contents: { source: 'data:,deep' } },
      { path: '/etc/sysctl.d/name with spaces.conf', contents: { source: 'data:,vm.swappiness%3D1' } },
    ],
    links: [
      { path: '/etc/soft', target: '/etc/plain' },
      { path: '/etc/relative', target: '../etc/plain' },
      { path: '/etc/dangling', target: '/nowhere', user: { name: 'operator' } },
      { path: '/etc/hard', target: '/opt/deep/er/still/file', hard: true },
    ],
  },
  systemd: {
    units: [
      {
        name: 'fleet.service',
        enabled: true,
        contents: '[Service]\nExecStart=/bin/true\n\n[Install]\nWantedBy=multi-user.target\n',
        dropins: [
          { name: '10-first.conf', contents: '[Service]\nNice=5\n' },
          { name: '20-empty.conf', contents: '' },
        ],
      },
      { name: 'kubelet.service', dropins: [{ name: '90-only.conf', contents: '[Unit]\nAfter=fleet.service\n' }] },
      {
        name: 'idle.service',
        enabled: false,
        contents: '[Service]\nExecStart=/bin/true\n\n[Install]\nWantedBy=multi-user.target\n',
      },
      { name: 'static.service', enabled: false, contents: '[Service]\nExecStart=/bin/true\n' },
      { name: 'never.service', mask: true },
      { name: 'unmasked.service', mask: false, enabled: true },
      { name: 'hidden.service', mask: true, contents: '[Service]\nExecStart=/bin/true\n' },
      { name: 'nothing.service' },
    ],
  },
};

import { describe, expect, it } from 'vitest';
import { findLibraries, readOffers } from './offer.ts';

const sum = 'a'.repeat(64);

describe('what apt offers', () => {
  it('is read with its version, epoch included, and its sum', () => {
    const output = [
      `'http://deb.example/pool/n/nginx_1.22.1-9%2bdeb12u10_amd64.deb' nginx_1.22.1-9+deb12u10_amd64.deb 531468 SHA256:${sum}`,
      `'http://deb.example/pool/s/passwd_4.13_amd64.deb' passwd_1%3a4.13+dfsg1-1_amd64.deb 972180 SHA256:${sum}`,
    ].join('\n');
    expect(readOffers(output, ['passwd', 'nginx'])).toEqual([
      { name: 'passwd', version: '1:4.13+dfsg1-1', file: 'passwd_1%3a4.13+dfsg1-1_amd64.deb', sha256: sum },
      { name: 'nginx', version: '1.22.1-9+deb12u10', file: 'nginx_1.22.1-9+deb12u10_amd64.deb', sha256: sum },
    ]);
  });

  it.each([
    ['nothing', ''],
    ['a weaker sum', `'http://deb.example/n.deb' nginx_1.22_amd64.deb 5 MD5Sum:${'a'.repeat(32)}`],
    ['a file name that leads elsewhere', `'http://deb.example/n.deb' ../nginx_1.22_amd64.deb 5 SHA256:${sum}`],
    ['another package', `'http://deb.example/n.deb' nginx-full_1.22_amd64.deb 5 SHA256:${sum}`],
  ])('is refused when it is %s', (_, output) => {
    expect(() => readOffers(output, ['nginx'])).toThrow(expect.objectContaining({ code: 'SLW_TOOLS_PACKAGE' }));
  });
});

describe('shared libraries', () => {
  const graph = `nginx
  Depends: libc6
  Depends: libssl3
  Depends: libjs-jquery
  Depends: iproute2
 |Depends: zlib1g
  Depends: <httpd>
iproute2
  Depends: libelf1
libssl3
  PreDepends: libzstd1
  Depends: libc6
libblkid-dev
  Depends: libblkid1
  Depends: libc6-dev
libblkid1
  Depends: libc6
`;

  it.each([
    ['those of libraries too, but not what programs beside it need', ['nginx'], ['libssl3', 'zlib1g', 'libzstd1']],
    ['no headers', ['libblkid-dev'], ['libblkid1']],
    ['no scripts of web pages', ['nginx'], ['libssl3', 'zlib1g', 'libzstd1']],
    ['none twice', ['libssl3', 'nginx'], ['libzstd1', 'zlib1g']],
    ['none of a package that apt does not know', ['absent'], []],
  ])('are found: %s', (_, packages, libraries) => {
    expect(findLibraries(graph, packages)).toEqual(libraries);
  });
});

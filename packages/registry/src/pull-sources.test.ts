import { describe, expect, it } from 'vitest';
import { parseMirrorSets } from './mirror-sets.ts';
import { blobUrl, manifestUrl, listPullSources, pullScope } from './pull-sources.ts';
import { parseReference } from './reference.ts';
import { parseRegistriesConf } from './registries-conf.ts';
import type { MirrorRule } from './registry.ts';

const digest = `@sha256:${'0a'.repeat(32)}`;

/** The sources in order, plain http ones marked. */
function listSources(reference: string, mirrors: readonly MirrorRule[], plainHttp: readonly string[] = []): string[] {
  const places = listPullSources(parseReference(reference), { mirrors, plainHttp: new Set(plainHttp) });
  return places.map(({ host, repository, plainHttp }) => `${plainHttp ? 'http://' : ''}${host}/${repository}`);
}

describe('registries.conf', () => {
  const conf = parseRegistriesConf(`
    unqualified-search-registries = ["docker.io"]
    short-name-mode = "enforcing"

    [[registry]]
    location = "quay.io/openshift"
    [[registry.mirror]]
    location = "mirror.local:5000/ocp"
    insecure = true
    [[registry.mirror]]
    location = "second.local/ocp"
    pull-from-mirror = "digest-only"
    [[registry.mirror]]
    location = "third.local/ocp"
    pull-from-mirror = "tag-only"

    [[registry]]
    location = "quay.io"
    mirror-by-digest-only = true
    [[registry.mirror]]
    location = "all.local/quay"

    [[registry]]
    prefix = "old.example.com/team"
    location = "new.example.com:8080/people"
    insecure = true

    [[registry]]
    prefix = "*.corp.example.com"
    [[registry.mirror]]
    location = "corp.local/all"

    [[registry]]
    location = "bad.example.com"
    blocked = true

    [[registry]]
    location = "closed.example.com"
    blocked = true
    [[registry.mirror]]
    location = "open.local"
    [[registry.mirror]]
    location = "bad.example.com/copy"
  `);
  const places = (reference: string): string[] => listSources(reference, conf.mirrors, conf.plainHttp);

  it('tries the mirrors of the most specific source in order, then the source', () => {
    const names = ['http://mirror.local:5000/ocp/release', 'second.local/ocp/release', 'quay.io/openshift/release'];
    expect(places(`quay.io/openshift/release${digest}`)).toEqual(names);
  });

  it('uses only mirrors for tags if the reference is a tag', () => {
    const names = ['http://mirror.local:5000/ocp/release', 'third.local/ocp/release', 'quay.io/openshift/release'];
    expect(places('quay.io/openshift/release:4.22')).toEqual(names);
    expect(places('quay.io/other/app:1')).toEqual(['quay.io/other/app']);
    expect(places(`quay.io/other/app${digest}`)).toEqual(['all.local/quay/other/app', 'quay.io/other/app']);
  });

  it('uses the location instead of the prefix', () => {
    expect(places('old.example.com/team/app:1')).toEqual(['http://new.example.com:8080/people/app']);
    expect(places('old.example.com/other/app:1')).toEqual(['old.example.com/other/app']);
  });

  it('supports host patterns', () => {
    expect(places('a.corp.example.com/x/y:1')).toEqual(['corp.local/all/x/y', 'a.corp.example.com/x/y']);
    expect(places('corp.example.com/x/y:1')).toEqual(['corp.example.com/x/y']);
  });

  it('never uses a blocked registry, even as a mirror', () => {
    expect(() => places('bad.example.com/app:1')).toThrow(/bad\.example\.com is blocked/);
    expect(places('closed.example.com/app:1')).toEqual(['open.local/app']);
  });

  it('uses a registry without a rule directly, with TLS', () => {
    expect(listSources('ghcr.io/a/b:1', [])).toEqual(['ghcr.io/a/b']);
    expect(listSources('localhost:5000/a/b:1', [], ['localhost:5000'])).toEqual(['http://localhost:5000/a/b']);
  });

  it.each([
    ['x = ', 'expected TOML'],
    ['[registries.search]\nregistries = []', 'version 1'],
    ['[[registry]]\ninsecure = true', 'registry[0]: expected a location or a prefix'],
    ['[[registry]]\nlocation = 7', 'registry[0].location: expected text, found a number'],
    ['[[registry]]\nlocation = "quay.io/app:tag"', 'without a tag'],
    ['[[registry]]\nlocation = "quay.io"\nblocked = "yes"', 'registry[0].blocked: expected true or false'],
    ['[[registry]]\nlocation = "quay.io"\n[[registry.mirror]]\ninsecure = true', 'registry[0].mirror[0].location'],
    ['[registry]\nlocation = "quay.io"', 'expected [[registry]] tables'],
    [
      '[[registry]]\nlocation = "quay.io"\n[[registry.mirror]]\nlocation = "a.io"\npull-from-mirror = "never"',
      'expected all, digest-only or tag-only, found "never"',
    ],
    [
      '[[registry]]\nlocation = "q.io"\nmirror-by-digest-only = true\n[[registry.mirror]]\nlocation = "a.io"\npull-from-mirror = "all"',
      'Remove one of them',
    ],
    [`# ${'x'.repeat(1024 * 1024)}`, 'at most 1048576 characters'],
  ])('an invalid one is rejected with the field (%#)', (text, why) => {
    expect(() => parseRegistriesConf(text)).toThrow(
      expect.objectContaining({ code: 'SLW_REGISTRY_MIRRORS', message: expect.stringContaining(why) }),
    );
  });
});

describe('mirror sets', () => {
  const buildMirrorSet = (kind: string, field: string, entries: unknown[]) => ({
    kind,
    metadata: { name: 'mirrors' },
    spec: { [field]: entries },
  });
  const digests = (...entries: unknown[]) => buildMirrorSet('ImageDigestMirrorSet', 'imageDigestMirrors', entries);
  const tags = (...entries: unknown[]) => buildMirrorSet('ImageTagMirrorSet', 'imageTagMirrors', entries);

  it('sets for digests and for tags of one source apply separately', () => {
    const rules = parseMirrorSets([
      digests({ source: 'quay.io/team', mirrors: ['a.local/team', 'b.local/team'] }),
      tags({ source: 'quay.io/team', mirrors: ['c.local/team'] }),
    ]);
    const forDigest = ['a.local/team/app', 'b.local/team/app', 'quay.io/team/app'];
    expect(listSources(`quay.io/team/app${digest}`, rules)).toEqual(forDigest);
    expect(listSources('quay.io/team/app:1', rules)).toEqual(['c.local/team/app', 'quay.io/team/app']);
  });

  it('NeverContactSource in one of them excludes the source', () => {
    const rules = parseMirrorSets([
      digests({ source: 'quay.io', mirrors: ['a.local'], mirrorSourcePolicy: 'NeverContactSource' }),
      digests({ source: 'quay.io', mirrors: ['b.local'] }),
    ]);
    expect(listSources(`quay.io/app${digest}`, rules)).toEqual(['a.local/app', 'b.local/app']);
    expect(() => listSources('quay.io/app:1', rules)).toThrow(
      /quay\.io\/app:1: no source is allowed for this image: quay\.io must not be contacted/,
    );
  });

  it('a mirror without a path cannot replace a whole repository', () => {
    const rules = parseMirrorSets([digests({ source: 'quay.io/app', mirrors: ['a.local', 'b.local/app'] })]);
    expect(listSources(`quay.io/app${digest}`, rules)).toEqual(['b.local/app', 'quay.io/app']);
  });

  it.each([
    [7, 'mirror set 0: expected an object, found a number'],
    [{ kind: 'Pod' }, 'expected ImageDigestMirrorSet or ImageTagMirrorSet, found "Pod"'],
    [
      digests({ source: 'quay.io:app:1', mirrors: [] }),
      'ImageDigestMirrorSet mirrors: spec.imageDigestMirrors[0].source',
    ],
    [digests({ source: 'quay.io', mirrors: [''] }), 'spec.imageDigestMirrors[0].mirrors[0]: expected a host'],
    [digests({ source: 'quay.io', mirrors: [], mirrorSourcePolicy: 'Maybe' }), 'found "Maybe"'],
    [tags({ source: 'quay.io', mirrors: 'a.io' }), 'spec.imageTagMirrors[0].mirrors: expected a list, found a string'],
  ])('an invalid one is rejected with object and field (%#)', (object, why) => {
    expect(() => parseMirrorSets([object])).toThrow(
      expect.objectContaining({ code: 'SLW_REGISTRY_MIRRORS', message: expect.stringContaining(why) }),
    );
  });
});

const place = (host: string, repository: string, plainHttp = false) => ({ host, repository, plainHttp });

describe('the URL of an image', () => {
  it.each([
    [place('quay.io', 'a/b'), 'https://quay.io/v2/a/b/manifests/1', 'repository:a/b:pull'],
    [place('localhost:5000', 'a', true), 'http://localhost:5000/v2/a/manifests/1', 'repository:a:pull'],
    [
      place('docker.io', 'busybox'),
      'https://registry-1.docker.io/v2/library/busybox/manifests/1',
      'repository:library/busybox:pull',
    ],
    [place('docker.io', 'a/b'), 'https://registry-1.docker.io/v2/a/b/manifests/1', 'repository:a/b:pull'],
  ])('%j', (place, url, scope) => {
    expect(manifestUrl(place, '1').href).toBe(url);
    expect(blobUrl(place, 'sha256:0a').href).toBe(url.replace('manifests/1', 'blobs/sha256:0a'));
    expect(pullScope(place)).toBe(scope);
  });
});

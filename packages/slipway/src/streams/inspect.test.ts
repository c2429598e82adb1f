import type { Discovery } from '@slipway/fleet/stream-discovery';
import { rhel10, rhel9 } from '@slipway/fleet/testing';
import { describe, expect, it } from 'vitest';
import { inspectReport, inspectText } from './inspect.ts';

const deprecated = { state: 'deprecated', successor: 'rhel-10', message: 'Ends in 2027.' } as const;
const discovery = (more: Partial<Discovery> = {}): Discovery => ({
  found: [
    { stream: rhel10, from: 'release image', lifecycle: null },
    { stream: rhel9, from: 'release image', lifecycle: deprecated },
  ],
  notes: [],
  failed: [],
  version: '4.22.0',
  ...more,
});
const image = (version: string, size: number) => ({ labels: { 'org.opencontainers.image.version': version }, size });
const images = new Map<string, { labels: Record<string, string>; size: number }>([
  [rhel9.osImage, image('9.6.20251201-1', 1_200_000_000)],
  [rhel9.osExtensionsImage, image('9.6.20251201-1', 300_000)],
  [rhel10.osImage, { labels: {}, size: 5 }],
]);

describe('the report of a release', () => {
  it('has each stream with its images, versions, sizes, lifecycle, and the default', () => {
    expect(inspectReport('release', discovery(), images)).toMatchObject({
      release: 'release',
      version: '4.22.0',
      defaultStream: 'rhel-9',
      streams: [
        { name: 'rhel-10', isDefault: false, lifecycle: null, os: { image: rhel10.osImage, version: null, bytes: 5 } },
        {
          name: 'rhel-9',
          isDefault: true,
          lifecycle: deprecated,
          os: { image: rhel9.osImage, version: '9.6.20251201-1', bytes: 1_200_000_000 },
          extensions: { image: rhel9.osExtensionsImage, bytes: 300_000 },
        },
      ],
      problems: [],
    });
  });

  it('reports the problem of a cluster without the default stream', () => {
    const report = inspectReport('release', discovery({ version: '5.0.0', found: discovery().found.slice(1) }), images);
    expect(report).toMatchObject({ defaultStream: null, problems: [{ code: 'SLW_STREAM_NO_DEFAULT' }] });
  });
});

describe('its text', () => {
  it('has a table of streams, a table of full image references, and the payload’s messages', () => {
    const text = inspectText(inspectReport('registry.example.com/release:4.22', discovery(), images));
    expect(text).toBe(`registry.example.com/release:4.22: version 4.22.0

STREAM   DEFAULT  LIFECYCLE                 OS VERSION      OS IMAGE  EXTENSIONS
rhel-10  -        -                         -               5 bytes   0 bytes
rhel-9   yes      deprecated, then rhel-10  9.6.20251201-1  1.2 GB    300.0 kB

STREAM   ROLE        IMAGE
rhel-10  os          ${rhel10.osImage}
rhel-10  extensions  ${rhel10.osExtensionsImage}
rhel-9   os          ${rhel9.osImage}
rhel-9   extensions  ${rhel9.osExtensionsImage}

rhel-9: Ends in 2027.
`);
  });

  it('reports what was left out, and that nothing was found', () => {
    const note = { code: 'SLW_STREAM_PARTIAL', message: 'stream rhel-9 has only its OS image' } as const;
    const text = inspectText(inspectReport('release', discovery({ found: [], notes: [note], version: null }), images));
    expect(text).toContain('release: version unknown\n');
    expect(text).toContain('This release has no OS image streams');
    expect(text).toContain('stream rhel-9 has only its OS image [SLW_STREAM_PARTIAL]\n');
  });
});

import { describe, expect, it } from 'vitest';
import { discoverStreams, type SourceReading } from './discover-streams.ts';
import { commandLine, configMap, sampleImageReference, pair, release, tagged } from './testing/readings.ts';

const rhel9 = pair('rhel9-coreos', 'rhel-9');
const rhel10 = pair('rhel10-coreos', 'rhel-10');
const failing: SourceReading = { name: 'release image', ok: false, problem: 'the registry does not answer' };

const discoverNames = (...readings: SourceReading[]): string[] =>
  discoverStreams(readings).found.map(({ stream, from }) => `${stream.name} by ${from}`);
const discoverNotes = (...readings: SourceReading[]): string[] =>
  discoverStreams(readings).notes.map(({ code, message }) => `${code} ${message}`);

const labelled = (stream: string) => ({ 'io.openshift.os.streamclass': stream });
const BY_CONFIG_MAP = 'ConfigMap machine-config-osimageurl';

describe('the streams of a release', () => {
  it('are its OS and extensions images in pairs, by the label io.openshift.os.streamclass', () => {
    expect(discoverStreams([release([...rhel10, ...rhel9])])).toEqual({
      found: [
        {
          stream: {
            name: 'rhel-10',
            osImage: sampleImageReference('rhel10-coreos'),
            osExtensionsImage: sampleImageReference('rhel10-coreos-extensions'),
          },
          from: 'release image',
          lifecycle: null,
        },
        {
          stream: {
            name: 'rhel-9',
            osImage: sampleImageReference('rhel9-coreos'),
            osExtensionsImage: sampleImageReference('rhel9-coreos-extensions'),
          },
          from: 'release image',
          lifecycle: null,
        },
      ],
      notes: [],
      failed: [],
      version: '4.22.0',
    });
  });

  it('are named as the payload names them, old names too', () => {
    const old = [...pair('rhel9-coreos', 'rhel9-coreos'), ...pair('rhel-coreos-10', 'rhel10-coreos')];
    expect(discoverNames(release(old))).toEqual(['rhel10-coreos by release image', 'rhel9-coreos by release image']);
  });

  it('exclude images from the same sources that are neither OS nor extensions', () => {
    const other = tagged('machine-os-tests', { stream: 'rhel-9', labels: {} });
    expect(discoverStreams([release([...rhel9, other])])).toMatchObject({ found: [{}], notes: [] });
  });

  it('with one image of the pair are left out and named', () => {
    const [os, extensions] = rhel10;
    expect(discoverNames(release([...rhel9, ...rhel10.slice(0, 1)]))).toEqual(['rhel-9 by release image']);
    expect(discoverNotes(release([...rhel9, ...(os === undefined ? [] : [os])]))).toEqual([
      `SLW_STREAM_PARTIAL release image: stream rhel-10: expected an OS image and an extensions image, found only the OS image (${sampleImageReference('rhel10-coreos')}, tag rhel10-coreos). The stream is ignored`,
    ]);
    expect(discoverNotes(release(extensions === undefined ? [] : [extensions]))).toEqual([
      expect.stringContaining('found only the extensions image'),
    ]);
  });

  it('that two tags claim use the last of them, also under an alias, and both are reported', () => {
    const later = tagged('rhel-coreos', { stream: 'rhel9-coreos' });
    const { found, notes } = discoverStreams([release([...rhel9, later])]);
    expect(found).toMatchObject([{ stream: { name: 'rhel9-coreos', osImage: sampleImageReference('rhel-coreos') } }]);
    expect(notes).toEqual([
      {
        code: 'SLW_STREAM_CONFLICT',
        message: expect.stringMatching(/OS image of stream rhel9-coreos: rhel9-coreos \(.*\) and rhel-coreos \(/),
      },
    ]);
  });

  it('without labels are ignored, and the pair of the ConfigMap is used', () => {
    const readings = [release([...pair('rhel-coreos', null)]), configMap('cm', labelled('rhel-9'))];
    expect(discoverNames(...readings)).toEqual([`rhel-9 by ${BY_CONFIG_MAP}`]);
    expect(discoverNotes(...readings)).toEqual([
      expect.stringMatching(
        /^SLW_STREAM_UNLABELLED release image: rhel-coreos, rhel-coreos-extensions have no stream label/,
      ),
    ]);
  });

  it('have the lifecycle from the tag of the OS image', () => {
    const annotations = {
      'io.openshift.os.stream-lifecycle': 'deprecated',
      'io.openshift.os.stream-successor': 'rhel-10',
      'io.openshift.os.stream-message': 'until 5.2',
    };
    expect(discoverStreams([release(pair('rhel9-coreos', 'rhel-9', annotations))]).found).toMatchObject([
      { lifecycle: { state: 'deprecated', successor: 'rhel-10', message: 'until 5.2' } },
    ]);
    const odd = { 'io.openshift.os.stream-lifecycle': 'retired' };
    expect(discoverStreams([release(pair('rhel9-coreos', 'rhel-9', odd))])).toMatchObject({
      found: [{ lifecycle: null }],
      notes: [{ code: 'SLW_STREAM_LIFECYCLE' }],
    });
  });

  it.each([
    ['a name that is none', pair('rhel9-coreos', 'RHEL 9'), /"RHEL 9"/],
    [
      'an image that is not named by digest',
      [
        tagged('rhel9-coreos', { stream: 'rhel-9', image: 'quay.io/os:9' }),
        tagged('rhel9-coreos-extensions', { stream: 'rhel-9' }),
      ],
      /"quay.io\/os:9"/,
    ],
  ])('that the API would refuse are left out alone: %s', (_, images, text) => {
    const { found, notes } = discoverStreams([release([...images, ...rhel10])]);
    expect(found).toMatchObject([{ stream: { name: 'rhel-10' } }]);
    expect(notes).toEqual([{ code: 'SLW_STREAM_UNUSABLE', message: expect.stringMatching(text) }]);
  });

  it('may be in a mirror, below several namespaces', () => {
    const image = `mirror.example.com:5000/ocp/openshift/release@sha256:${'0'.repeat(64)}`;
    const inMirror = rhel9.map((each) => ({ ...each, reference: image }));
    expect(discoverStreams([release(inMirror)])).toMatchObject({
      found: [{ stream: { name: 'rhel-9', osImage: image, osExtensionsImage: image } }],
      notes: [],
    });
  });

  it('beyond a hundred are left out and named', () => {
    const many = Array.from({ length: 101 }, (_, index) =>
      pair(`rhel-coreos-${index}`, `s-${String(index).padStart(3, '0')}`),
    );
    const { found, notes } = discoverStreams([release(many.flat())]);
    expect(found).toHaveLength(100);
    expect(notes).toEqual([{ code: 'SLW_STREAM_UNUSABLE', message: expect.stringContaining('ignored: s-100') }]);
  });
});

describe('of several sources', () => {
  it('the release image overrides the ConfigMap, and that overrides the command line; both values are reported', () => {
    const readings = [
      commandLine('cli', labelled('rhel-9')),
      configMap('cm', labelled('rhel9-coreos')),
      release(rhel9),
    ];
    expect(discoverNames(...readings.toReversed())).toEqual(['rhel-9 by release image']);
    expect(discoverNotes(...readings)).toEqual(
      [
        ['cm', BY_CONFIG_MAP, 'cli', 'command line', 'rhel9-coreos'],
        ['rhel9-coreos', 'release image', 'cm', BY_CONFIG_MAP, 'rhel-9'],
      ].flatMap(([winner = '', by, loser = '', other, name]) =>
        [
          ['osImage', ''],
          ['osExtensionsImage', '-extensions'],
        ].map(
          ([field, end]) =>
            `SLW_STREAM_CONFLICT stream ${name}: ${field} is ${sampleImageReference(`${winner}${end}`)} according to the ${by}, but ${sampleImageReference(`${loser}${end}`)} according to the ${other}; the ${by} takes precedence`,
        ),
      ),
    );
  });

  it('those that agree are no conflict', () => {
    expect(discoverNotes(configMap('rhel9-coreos', labelled('rhel-9')), release(rhel9))).toEqual([]);
  });

  it('each adds the streams that the others have not', () => {
    expect(discoverNames(configMap('cm', labelled('rhel-10')), release(rhel9))).toEqual([
      `rhel-10 by ${BY_CONFIG_MAP}`,
      'rhel-9 by release image',
    ]);
  });

  it('a complete pair of a lower one takes precedence over half a pair of a higher one', () => {
    const half = release(rhel9.slice(0, 1));
    expect(discoverNames(configMap('cm', labelled('rhel-9')), half)).toEqual([`rhel-9 by ${BY_CONFIG_MAP}`]);
  });

  it('one that fails is skipped and reported', () => {
    expect(discoverNames(configMap('cm', labelled('rhel-9')), failing)).toEqual([`rhel-9 by ${BY_CONFIG_MAP}`]);
    expect(discoverNotes(failing)).toEqual(['SLW_STREAM_SOURCE_FAILED release image: the registry does not answer']);
  });

  it('the highest one that has a version determines it', () => {
    const discoverVersion = (...readings: SourceReading[]) => discoverStreams(readings).version;
    expect(discoverVersion(configMap('cm', {}, '4.21.0'), release(rhel9, '4.22.0'))).toBe('4.22.0');
    expect(discoverVersion(configMap('cm', {}, '4.21.0'), release(rhel9, null))).toBe('4.21.0');
    expect(discoverVersion(configMap('cm', {}, '4.21.0'), failing)).toBe('4.21.0');
    expect(discoverVersion()).toBeNull();
  });
});

describe('the pair of the ConfigMap without labels', () => {
  const version = (text: string) => ({ 'org.opencontainers.image.version': text });

  it.each([
    ['the stream that the version of its OS belongs to', version('9.6.20251201-1'), '4.22.0', 'rhel-9'],
    ['the same by the older label', { version: '10.1.20251202-0' }, '4.22.0', 'rhel-10'],
    [
      'the same if the version starts with that of the platform',
      { version: '418.94.202501010000-0' },
      '4.18.0',
      'rhel-9',
    ],
    ['CentOS on OKD', version('10.0.20250606-0'), '4.20.0-okd-scos.3', 'centos-10'],
    ['the default of its platform, if the image has no version', {}, '4.22.0', 'rhel-9'],
    ['the default of a newer platform', {}, '5.0.0', 'rhel-10'],
    ['Fedora on older OKD', {}, '4.12.0-0.okd-2023-02-18', 'fedora-coreos'],
  ])('is %s', (_, labels, platform, stream) => {
    expect(discoverNames(configMap('cm', labels, platform))).toEqual([`${stream} by ${BY_CONFIG_MAP}`]);
  });

  it('has the family of the other streams, if the platform version is unknown', () => {
    const readings = [configMap('cm', version('9.6.1-0'), null), release(rhel10, null)];
    expect(discoverNames(...readings)).toEqual(['rhel-10 by release image', `rhel-9 by ${BY_CONFIG_MAP}`]);
  });

  it('is ignored if nothing determines its stream', () => {
    expect(discoverNames(configMap('cm', {}, null))).toEqual([]);
    expect(discoverNotes(configMap('cm', {}, null))).toEqual([
      expect.stringMatching(/^SLW_STREAM_UNLABELLED .*ignored$/),
    ]);
  });
});

describe('never a wrong image', () => {
  it('a pair whose images belong to two streams is ignored', () => {
    const [os, extensions] = [configMap('a', labelled('rhel-9')), configMap('b', labelled('rhel-10'))];
    if (!os.ok || !extensions.ok) throw new Error('both are readable');
    const mixed = { ...os, images: [...os.images.slice(0, 1), ...extensions.images.slice(1)] };
    expect(discoverStreams([mixed])).toMatchObject({ found: [], notes: [{ code: 'SLW_STREAM_CONFLICT' }] });
  });

  it('a pair whose images are swapped is left out', () => {
    const swapped = configMap('a', { ...labelled('rhel-9'), 'io.openshift.os.extensions': 'true' });
    expect(discoverStreams([swapped])).toMatchObject({ found: [], notes: [{ code: 'SLW_STREAM_UNUSABLE' }] });
  });
});

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
      version: '4.22.0',
    });
  });

  it('are named as the payload names them, old names too', () => {
    const old = [...pair('rhel9-coreos', 'rhel9-coreos'), ...pair('rhel-coreos-10', 'rhel10-coreos')];
    expect(discoverNames(release(old))).toEqual(['rhel10-coreos by release image', 'rhel9-coreos by release image']);
  });

  it('are not what was built from the same sources and is neither OS nor extensions', () => {
    const other = tagged('machine-os-tests', { stream: 'rhel-9', labels: {} });
    expect(discoverStreams([release([...rhel9, other])])).toMatchObject({ found: [{}], notes: [] });
  });

  it('with one image of the pair are left out and named', () => {
    const [os, extensions] = rhel10;
    expect(discoverNames(release([...rhel9, ...rhel10.slice(0, 1)]))).toEqual(['rhel-9 by release image']);
    expect(discoverNotes(release([...rhel9, ...(os === undefined ? [] : [os])]))).toEqual([
      `SLW_STREAM_PARTIAL release image: stream rhel-10 has only its OS image (${sampleImageReference('rhel10-coreos')}, tag rhel10-coreos), expected an OS image and an extensions image. The stream is left out`,
    ]);
    expect(discoverNotes(release(extensions === undefined ? [] : [extensions]))).toEqual([
      expect.stringContaining('stream rhel-10 has only its extensions image'),
    ]);
  });

  it('that two tags claim have the last of them, also under another name of the stream, and both are told', () => {
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

  it('without labels are left out, and the pair of the ConfigMap counts', () => {
    const readings = [release([...pair('rhel-coreos', null)]), configMap('cm', labelled('rhel-9'))];
    expect(discoverNames(...readings)).toEqual([`rhel-9 by ${BY_CONFIG_MAP}`]);
    expect(discoverNotes(...readings)).toEqual([
      expect.stringMatching(/^SLW_STREAM_UNLABELLED release image: rhel-coreos, rhel-coreos-extensions have no label/),
    ]);
  });

  it('have the life that the tag of the OS image says', () => {
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

  it('beyond a hundred are left out and named', () => {
    const many = Array.from({ length: 101 }, (_, index) =>
      pair(`rhel-coreos-${index}`, `s-${String(index).padStart(3, '0')}`),
    );
    const { found, notes } = discoverStreams([release(many.flat())]);
    expect(found).toHaveLength(100);
    expect(notes).toEqual([{ code: 'SLW_STREAM_UNUSABLE', message: expect.stringContaining('left out: s-100') }]);
  });
});

describe('of several sources', () => {
  it('the release image goes before the ConfigMap, and that before the command line; both values are told', () => {
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
            `SLW_STREAM_CONFLICT stream ${name}: ${field} is ${sampleImageReference(`${winner}${end}`)} by the ${by}, and ${sampleImageReference(`${loser}${end}`)} by the ${other}; the ${by} counts`,
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

  it('a whole pair of a lower one goes before half a pair of a higher one', () => {
    const half = release(rhel9.slice(0, 1));
    expect(discoverNames(configMap('cm', labelled('rhel-9')), half)).toEqual([`rhel-9 by ${BY_CONFIG_MAP}`]);
  });

  it('one that fails is skipped and told of', () => {
    expect(discoverNames(configMap('cm', labelled('rhel-9')), failing)).toEqual([`rhel-9 by ${BY_CONFIG_MAP}`]);
    expect(discoverNotes(failing)).toEqual(['SLW_STREAM_SOURCE_FAILED release image: the registry does not answer']);
  });

  it('the highest that says it has the version', () => {
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
      'the same where the version begins with that of the platform',
      { version: '418.94.202501010000-0' },
      '4.18.0',
      'rhel-9',
    ],
    ['CentOS on OKD', version('10.0.20250606-0'), '4.20.0-okd-scos.3', 'centos-10'],
    ['the default of its platform, where the image says nothing', {}, '4.22.0', 'rhel-9'],
    ['the default of a newer platform', {}, '5.0.0', 'rhel-10'],
    ['Fedora on older OKD', {}, '4.12.0-0.okd-2023-02-18', 'fedora-coreos'],
  ])('is %s', (_, labels, platform, stream) => {
    expect(discoverNames(configMap('cm', labels, platform))).toEqual([`${stream} by ${BY_CONFIG_MAP}`]);
  });

  it('has the family of the streams beside it, where no version of the platform is known', () => {
    const readings = [configMap('cm', version('9.6.1-0'), null), release(rhel10, null)];
    expect(discoverNames(...readings)).toEqual(['rhel-10 by release image', `rhel-9 by ${BY_CONFIG_MAP}`]);
  });

  it('is left out where nothing tells', () => {
    expect(discoverNames(configMap('cm', {}, null))).toEqual([]);
    expect(discoverNotes(configMap('cm', {}, null))).toEqual([
      expect.stringMatching(/^SLW_STREAM_UNLABELLED .*left out$/),
    ]);
  });
});

describe('never a wrong image', () => {
  it('a pair whose images are of two streams is left out', () => {
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

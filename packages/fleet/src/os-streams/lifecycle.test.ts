import { describe, expect, it } from 'vitest';
import type { StreamLifecycle } from './facts.ts';
import { decodeLifecycle, encodeLifecycle, lifecycleOfTag } from './lifecycle.ts';

const state = 'io.openshift.os.stream-lifecycle';
const successor = 'io.openshift.os.stream-successor';
const message = 'io.openshift.os.stream-message';
const bare = { successor: null, message: null };

describe('what a tag says of the life of its stream', () => {
  it.each<[Record<string, string>, StreamLifecycle | null]>([
    [{}, null],
    [{ [state]: '' }, null],
    [{ [state]: 'deprecated' }, { state: 'deprecated', ...bare }],
    [{ [state]: 'blocked' }, { state: 'blocked', ...bare }],
    [
      { [state]: 'blocked', [successor]: 'rhel-10', [message]: ' Ends in\n2027.\u0007 ' },
      { state: 'blocked', successor: 'rhel-10', message: 'Ends in 2027.' },
    ],
    // A successor of a stream that lives is no end.
    [{ [successor]: 'rhel-10', [message]: 'soon' }, null],
  ])('%j is understood', (annotations, lifecycle) => {
    expect(lifecycleOfTag('rhel-coreos', annotations)).toEqual({ lifecycle, problems: [] });
  });

  it.each(['removed', 'Deprecated', 'deprecated ', 'x'.repeat(10_000)])(
    'a state that is not known is reported and not followed: %.20j',
    (said) => {
      const { lifecycle, problems } = lifecycleOfTag('rhel-coreos', { [state]: said });
      expect(lifecycle).toBeNull();
      expect(problems).toMatchObject([{ code: 'SLW_STREAM_LIFECYCLE' }]);
      expect(problems[0]?.message).toMatch(
        /^tag rhel-coreos of image-references, annotation io.openshift.os.stream-lifecycle: expected deprecated or blocked, found ".*"\. /,
      );
      expect(problems[0]?.message.length).toBeLessThan(400);
    },
  );

  it('a successor that is no name is reported; the rest counts', () => {
    const { lifecycle, problems } = lifecycleOfTag('rhel-coreos', { [state]: 'blocked', [successor]: 'RHEL 10' });
    expect(lifecycle).toEqual({ state: 'blocked', ...bare });
    expect(problems).toMatchObject([
      { message: expect.stringContaining('expected the name of a stream, found "RHEL 10"') },
    ]);
  });

  it('a message without end is cut', () => {
    const { lifecycle } = lifecycleOfTag('rhel-coreos', { [state]: 'blocked', [message]: 'x'.repeat(10_000) });
    expect(lifecycle?.message).toHaveLength(300);
  });
});

describe('the lives of streams in the annotation of the OSImageStream', () => {
  const nine: StreamLifecycle = { state: 'blocked', successor: 'rhel-10', message: 'Ends in 2027.' };
  const vendor: StreamLifecycle = { state: 'deprecated', ...bare };

  it('come back as they went, and are the same in any order', () => {
    const text = encodeLifecycle(
      new Map([
        ['vendor-1', vendor],
        ['rhel-9', nine],
      ]),
    );
    expect(text).toBe(
      encodeLifecycle(
        new Map([
          ['rhel-9', nine],
          ['vendor-1', vendor],
        ]),
      ),
    );
    expect(decodeLifecycle(text ?? '')).toEqual(
      new Map([
        ['rhel-9', nine],
        ['vendor-1', vendor],
      ]),
    );
  });

  it('need no annotation where all streams live', () => {
    expect(encodeLifecycle(new Map())).toBeNull();
    expect(decodeLifecycle(undefined)).toEqual(new Map());
  });

  it('of as many streams as there can be fit beside other annotations', () => {
    const long = { state: 'blocked', successor: 'a'.repeat(253), message: '€'.repeat(300) } as const;
    const all = new Map(Array.from({ length: 100 }, (_, index) => [`${index}`.padEnd(253, 'a'), long]));
    const text = encodeLifecycle(all) ?? '';
    expect(Buffer.byteLength(text)).toBeLessThan(200 * 1024);
    expect(decodeLifecycle(text)).toEqual(all);
  });

  it.each([
    '',
    '{',
    'null',
    '[]',
    '7',
    '{"rhel-9":1}',
    '{"rhel-9":{"state":"gone"}}',
    '{"RHEL 9":{"state":"blocked"}}',
  ])('that somebody damaged say nothing: %s', (text) => {
    expect(decodeLifecycle(text)).toEqual(new Map());
  });

  it('keep what is whole', () => {
    const text = '{"rhel-9":{"state":"blocked","successor":"Not a name","message":7},"rhel-10":null}';
    expect(decodeLifecycle(text)).toEqual(new Map([['rhel-9', { state: 'blocked', ...bare }]]));
  });
});

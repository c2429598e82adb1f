import { describe, expect, it } from 'vitest';
import { type DriveMemory, DEFAULT_STEP_OPTIONS } from './host-step.ts';
import { type DriveQuestion, type DriveStep, nextDriveStep } from './next-drive-step.ts';
import {
  aNode,
  anImage,
  attachedA,
  drive,
  empty,
  buildFacts,
  foreign,
  type FactsInput,
  ISO_A,
  ISO_B,
  NOW,
  ours,
  PUBLISHED,
} from './testing/facts.ts';

type DriveStepInput = FactsInput & Partial<Pick<DriveQuestion, 'mayChange' | 'isBooting'>>;

/** Of a host that is off, unless a row overrides it. */
function decideStep({ mayChange = true, isBooting = false, ...given }: DriveStepInput): DriveStep {
  const image = anImage(given.image);
  const facts = { ...buildFacts(given), dataImage: image };
  const wanted = image.isDeleting ? null : image.url;
  return nextDriveStep({
    facts,
    node: aNode(given.node ?? {}),
    image,
    options: DEFAULT_STEP_OPTIONS,
    wanted,
    mayChange,
    isBooting,
  });
}

const remembered = (step: DriveStep): DriveMemory | null => (step.type === 'remember drive' ? step.memory : null);
const MINUTES = 60_000;
const SETTLED = NOW - DEFAULT_STEP_OPTIONS.settleMs;
const attaching = (changes: Partial<DriveMemory> = {}) =>
  drive({ doing: 'attach', isSent: true, since: NOW - 1000, node: 'node-1', ...changes });
const detaching = (changes: Partial<DriveMemory> = {}) =>
  drive({ doing: 'detach', isSent: true, since: NOW - 1000, reported: PUBLISHED, node: 'node-1', ...changes });
const nameless = { inserted: true, image: '' };

describe('an attach', () => {
  it('is remembered before the call, and starts with a drive that was seen empty', () => {
    expect(decideStep({})).toEqual({ type: 'look' });
    expect(decideStep({ drive: empty })).toEqual({
      type: 'attach',
      url: ISO_A,
      remember: drive({ doing: 'attach', since: NOW, node: 'node-1' }),
    });
  });

  it.each([
    ['another client uses the node', { node: { reservation: 'x' } }, 'wait'],
    ['the host is on', { mayChange: false }, 'wait'],
    ['the last one has just failed', { image: { memory: drive({ failures: 1, notBefore: NOW + 1 }) } }, 'wait'],
    ['the drive cannot be read', { drive: null, driveProblem: 'no answer' }, 'wait'],
  ] as const)('does not begin while %s', (_, given, type) => {
    expect(decideStep({ drive: empty, ...given }).type).toBe(type);
  });

  it('is not begun, and not repeated, if Ironic must not fetch from the URL', () => {
    const refusal = 'the host localhost resolves to 127.0.0.1';
    expect(decideStep({ image: { refusal }, drive: empty })).toEqual({ type: 'ready' });
    const unsent = attaching({ isSent: false, since: SETTLED });
    expect(decideStep({ image: { memory: unsent }, drive: empty }).type).toBe('attach');
    expect(remembered(decideStep({ image: { refusal, memory: unsent }, drive: empty }))).toMatchObject({
      doing: 'none',
    });
  });

  it('does not touch a foreign medium: it is an error with a remediation, and retried later', () => {
    const memory = remembered(decideStep({ drive: foreign }));
    expect(memory).toMatchObject({ doing: 'none', isAttached: false, failures: 1, notBefore: NOW + 1.5 * MINUTES });
    expect(memory?.message).toMatch(
      /found http:\/\/somebody\.example\/tool\.iso.*Eject it.*SLW_DATA_IMAGE_FOREIGN_MEDIUM/,
    );
  });

  it('looks for a foreign medium again at least every quarter of an hour, because a user may eject it at any time', () => {
    const memory = remembered(decideStep({ image: { memory: drive({ failures: 20 }) }, drive: foreign }));
    expect(memory?.notBefore).toBeGreaterThan(NOW);
    expect(memory?.notBefore).toBeLessThanOrEqual(NOW + 16 * MINUTES);
  });

  it('states the remediation, however long the name of that medium is', () => {
    const memory = remembered(decideStep({ drive: { inserted: true, image: `http://x.example/${'y'.repeat(4000)}` } }));
    expect(memory?.message).toMatch(/y…, which Slipway did not attach.*SLW_DATA_IMAGE_FOREIGN_MEDIUM\]$/);
  });

  it('first ejects a medium that turns out to be ours', () => {
    for (const memory of [drive({ reported: PUBLISHED }), drive({ node: 'node-1', failures: 1 })]) {
      expect(decideStep({ image: { memory }, drive: ours }).type).toBe('detach');
      expect(remembered(decideStep({ image: { memory }, drive: nameless }))).toMatchObject({ doing: 'none' });
    }
    expect(remembered(decideStep({ drive: ours }))).toMatchObject({ doing: 'none', failures: 1 });
  });

  it('of a new URL does not count the failures of the old one', () => {
    const memory = drive({ url: ISO_B, failures: 5, notBefore: NOW + MINUTES, message: 'old' });
    expect(decideStep({ image: { memory }, drive: empty })).toMatchObject({
      type: 'attach',
      url: ISO_A,
      remember: { url: ISO_A, failures: 0, message: '' },
    });
  });

  it('is complete once Ironic has finished without an error, and the drive shows it', () => {
    expect(decideStep({ image: { memory: attaching({ failures: 3 }) }, drive: ours })).toEqual({
      type: 'remember drive',
      memory: { ...attachedA, since: NOW },
    });
  });

  it.each([
    ['is named after the node', PUBLISHED],
    ['is the URL, if Ironic creates no copy', ISO_A],
    ['is named after the node in capitals', PUBLISHED.toUpperCase()],
    ['is the URL with percent-encoding', 'http://iso.example/%61.iso'],
    ['is the path of the URL, if the BMC drops the rest', '/a.iso'],
    ['is the URL as a share', '\\\\iso.example\\a.iso'],
    ['has no name, if the BMC reports none', ''],
    ['is named after the earlier node, if Ironic has another by now', 'http://ironic.example/cdrom-node-0.iso'],
  ])('is attached if what the drive shows %s', (_, image) => {
    const memory = attaching({ node: image.includes('node-0') ? 'node-0' : 'node-1' });
    expect(remembered(decideStep({ image: { memory }, drive: { inserted: true, image } }))).toMatchObject({
      isAttached: true,
      reported: image,
    });
  });

  it.each([
    ['a foreign medium', foreign.image],
    ['one that ends like ours', '/not-a.iso'],
    ['one of that name from another server', 'http://somebody.example/a.iso'],
    ['an ISO of ours for another host', 'http://ironic.example/cdrom-node-2.iso'],
    ['what Ironic boots the host from', 'http://ironic.example/boot-node-1.iso'],
  ])('is not attached if the drive shows %s: that stays, and is an error with a remediation', (_, image) => {
    const shown = { inserted: true, image };
    // Ours may still be on its way.
    expect(decideStep({ image: { memory: attaching() }, drive: shown })).toMatchObject({ type: 'wait', why: 'busy' });
    const found = remembered(decideStep({ image: { memory: attaching({ since: SETTLED }) }, drive: shown }));
    expect(found).toMatchObject({ doing: 'none', isAttached: false, failures: 1, notBefore: NOW + 1.5 * MINUTES });
    expect(found?.message).toContain(`expected the ISO that Ironic was asked to attach, found ${image}`);
    expect(found?.message).toMatch(/Eject it at the BMC.*SLW_DATA_IMAGE_FOREIGN_MEDIUM/);
    // It is attached once that is gone; and a late medium is recognised as ours.
    const later = { ...drive({ node: 'node-1' }), failures: 1 };
    expect(found).toMatchObject({ node: later.node });
    expect(decideStep({ image: { memory: later }, drive: empty })).toMatchObject({ type: 'attach' });
    expect(decideStep({ image: { memory: later }, drive: ours })).toMatchObject({ type: 'detach' });
  });

  it.each([
    ['while Ironic works', { node: { reservation: 'x' }, drive: ours }],
    ['while the drive is empty, for a moment', { drive: empty }],
    ['while the drive cannot be read', { driveProblem: 'no answer' }],
    ['before the drive is read', {}],
  ])('is not reported as attached %s', (_, given) => {
    const step = decideStep({ image: { memory: attaching() }, ...given });
    expect(['wait', 'look']).toContain(step.type);
  });

  it.each([
    [
      'Ironic reports an error, though the drive shows it',
      { node: { lastError: 'not found' }, drive: ours },
      /not found/,
    ],
    [
      'Ironic reports an error, before the drive is read',
      { node: { lastError: 'not found' } },
      /a\.iso was not attached: not found/,
    ],
    [
      'it was accepted and never done',
      { image: { memory: attaching({ since: SETTLED }) }, drive: empty },
      /still empty/,
    ],
  ])('has failed if %s; the drive is emptied before the next try', (_, given, message) => {
    const failed = remembered(decideStep({ image: { memory: attaching() }, ...given }));
    expect(failed).toMatchObject({ doing: 'detach', isSent: false, isAttached: false, failures: 1, notBefore: 0 });
    expect(failed?.message).toMatch(message);
    const cleanUp = decideStep({ image: { memory: failed }, drive: empty });
    expect(cleanUp).toMatchObject({ type: 'detach', remember: { doing: 'detach', failures: 1 } });
  });

  it('that was interrupted is checked once it can no longer be in flight', () => {
    expect(decideStep({ image: { memory: attaching({ isSent: false }) } })).toMatchObject({
      type: 'wait',
      why: 'busy',
    });
    const memory = attaching({ isSent: false, since: SETTLED });
    expect(decideStep({ image: { memory } })).toEqual({ type: 'look' });
    expect(decideStep({ image: { memory }, drive: empty })).toMatchObject({
      type: 'attach',
      remember: { failures: 0 },
    });
    expect(remembered(decideStep({ image: { memory }, drive: ours }))).toMatchObject({ doing: 'detach', failures: 0 });
    expect(remembered(decideStep({ image: { memory }, drive: foreign }))).toMatchObject({ doing: 'none', failures: 1 });
    expect(remembered(decideStep({ image: { memory, isDeleting: true }, drive: empty }))).toMatchObject({
      doing: 'none',
    });
    expect(remembered(decideStep({ image: { memory }, drive: empty, mayChange: false }))).toMatchObject({
      doing: 'none',
    });
  });

  it('that was interrupted is taken out, even if the BMC reports only a part of its name', () => {
    const part = { inserted: true, image: '/a.iso' };
    const memory = remembered(
      decideStep({ image: { memory: attaching({ isSent: false, since: SETTLED }) }, drive: part }),
    );
    expect(decideStep({ image: { memory }, drive: part })).toMatchObject({ type: 'detach', remember: { failures: 0 } });
  });
});

describe('an attached ISO', () => {
  const image = { memory: attachedA };

  it('stays', () => {
    expect(decideStep({ image })).toEqual({ type: 'ready' });
    expect(decideStep({ image, drive: ours, isBooting: true })).toEqual({ type: 'ready' });
    expect(decideStep({ image, isBooting: true })).toEqual({ type: 'look' });
  });

  it('is no longer reported as attached once it is ejected', () => {
    expect(remembered(decideStep({ image, drive: empty, mayChange: false }))).toMatchObject({
      isAttached: false,
      failures: 0,
      message: expect.stringContaining('is no longer in the drive'),
    });
  });

  it('nor once another medium is inserted, which is not touched', () => {
    const memory = remembered(decideStep({ image, drive: foreign, mayChange: false }));
    expect(memory).toMatchObject({ isAttached: false, failures: 1, reported: PUBLISHED });
    expect(memory?.message).toMatch(
      /expected the ISO that Slipway attached, found http.*SLW_DATA_IMAGE_FOREIGN_MEDIUM/,
    );
  });

  it.each([
    ['another URL', { ...image, url: ISO_B }],
    ['nothing', { ...image, isDeleting: true }],
  ])('is ejected if %s is desired, once the host is off', (_, changed) => {
    expect(decideStep({ image: changed, mayChange: false })).toMatchObject({
      type: 'wait',
      why: 'reboot needed',
      ms: null,
    });
    expect(decideStep({ image: changed })).toEqual({ type: 'look' });
    expect(decideStep({ image: changed, drive: ours })).toEqual({
      type: 'detach',
      remember: { ...attachedA, doing: 'detach', isAttached: false, since: NOW },
    });
  });

  it('by another operator is unverified: it is ejected first', () => {
    expect(decideStep({ image: { attachedUrl: ISO_A }, drive: ours }).type).toBe('detach');
    expect(decideStep({ image: { attachedUrl: ISO_A }, mayChange: false })).toMatchObject({ why: 'reboot needed' });
    expect(remembered(decideStep({ image: { attachedUrl: ISO_A }, drive: empty }))).toMatchObject({ doing: 'none' });
    expect(remembered(decideStep({ image: { attachedUrl: ISO_A }, drive: foreign }))).toMatchObject({ failures: 1 });
  });
});

describe('a detach', () => {
  it('is complete once the drive shows nothing of ours, whatever Ironic reported', () => {
    const memory = detaching();
    for (const seen of [empty, foreign]) {
      const after = remembered(decideStep({ image: { memory }, drive: seen, node: { lastError: 'of something' } }));
      expect(after).toMatchObject({ doing: 'none', isAttached: false, failures: 0, notBefore: 0 });
    }
  });

  it('after a failed attach leaves the next one waiting', () => {
    const memory = detaching({ reported: '', failures: 2, message: 'not found' });
    expect(remembered(decideStep({ image: { memory }, drive: empty }))).toMatchObject({
      doing: 'none',
      failures: 2,
      message: 'not found',
      notBefore: NOW + 3 * MINUTES,
    });
  });

  it.each([
    ['Ironic reports an error', detaching(), 'no answer', /was not detached: no answer/],
    ['it was accepted and never done', detaching({ since: SETTLED }), null, /still in the drive/],
  ])('has failed if %s, and is retried later', (_, memory, lastError, message) => {
    const failed = remembered(decideStep({ image: { memory }, drive: ours, node: { lastError } }));
    expect(failed).toMatchObject({ doing: 'detach', isSent: false, failures: 1, notBefore: NOW + 1.5 * MINUTES });
    expect(failed?.message).toMatch(message);
    expect(decideStep({ image: { memory: failed } })).toMatchObject({
      type: 'wait',
      why: 'drive backoff',
      ms: 1.5 * MINUTES,
    });
  });

  it('waits a moment for a BMC that still shows an ejected medium', () => {
    expect(decideStep({ image: { memory: detaching() }, drive: ours })).toMatchObject({ type: 'wait', why: 'busy' });
  });

  it('after a failed attach ignores a foreign medium, and waits for a late one of ours', () => {
    const memory = detaching({ isSent: false, reported: '', failures: 1, message: 'not found' });
    expect(decideStep({ image: { memory }, drive: empty }).type).toBe('detach');
    expect(decideStep({ image: { memory }, drive: ours }).type).toBe('detach');
    expect(decideStep({ image: { memory }, drive: foreign })).toMatchObject({ type: 'wait', why: 'busy' });
    const later = { ...memory, since: SETTLED };
    expect(remembered(decideStep({ image: { memory: later }, drive: foreign }))).toMatchObject({ doing: 'none' });
  });

  it('with an unreadable memory ejects only what Ironic has for this node', () => {
    const memory = detaching({ isSent: false, url: '', reported: '', node: '', since: SETTLED });
    expect(decideStep({ image: { memory }, drive: ours }).type).toBe('detach');
    expect(remembered(decideStep({ image: { memory }, drive: foreign }))).toMatchObject({ doing: 'none' });
  });

  it('that was interrupted is called again, unless ours is out', () => {
    const memory = detaching({ isSent: false });
    expect(decideStep({ image: { memory }, drive: ours }).type).toBe('detach');
    expect(remembered(decideStep({ image: { memory }, drive: empty }))).toMatchObject({ doing: 'none' });
    expect(remembered(decideStep({ image: { memory }, drive: foreign }))).toMatchObject({ doing: 'none' });
    expect(decideStep({ image: { memory }, mayChange: false })).toMatchObject({ why: 'reboot needed' });
  });
});

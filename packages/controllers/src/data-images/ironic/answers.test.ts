import { describe, expect, it } from 'vitest';
import { readDrive, readNode } from './answers.ts';
import { nodeAnswer } from './testing/misbehaving-ironic.ts';

const ASKED = 'ironic.example: GET /v1/nodes/a';
const refused = (code: string) => expect.objectContaining({ code, message: expect.stringContaining(ASKED) });

describe('a node in a response of Ironic', () => {
  it.each<[string, unknown]>([
    ['a list', []],
    ['nothing', null],
    ['no UUID', { ...nodeAnswer, uuid: undefined }],
    ['a UUID that is a path', { ...nodeAnswer, uuid: '../../v1/nodes' }],
    ['a state that is a number', { ...nodeAnswer, provision_state: 7 }],
    ['no reservation field', { ...nodeAnswer, reservation: undefined }],
    ['an error that is an object', { ...nodeAnswer, last_error: {} }],
    ['maintenance as text', { ...nodeAnswer, maintenance: 'false' }],
  ])('is rejected: %s', (_, body) => {
    expect(() => readNode(body, ASKED)).toThrow(refused('SLW_IRONIC_ANSWER'));
  });

  it.each<[string, unknown]>([
    ['nothing', {}],
    ['a note of another client', { slipway: 'hello' }],
    ['numbers', { slipway: { uid: 1, digest: 2 } }],
    ['null', null],
  ])('is not ours with %s in place of our mark', (_, extra) => {
    expect(readNode({ ...nodeAnswer, extra }, ASKED)).toMatchObject({ sentDigest: null, hostUid: null });
  });

  it('has its multi-line error shown in one line of limited length', () => {
    const { lastError } = readNode({ ...nodeAnswer, last_error: `Could not\nattach ${'x'.repeat(9000)}` }, ASKED);
    expect(lastError).toMatch(/^Could not attach x+…$/);
    expect(lastError?.length).toBeLessThanOrEqual(2001);
  });
});

describe('a drive', () => {
  const cd = { media_types: ['CD', 'DVD'], inserted: false, image: '' };
  const full = { ...cd, inserted: true, image: 'http://a/b.iso' };
  const floppy = { ...full, media_types: ['Floppy'] };
  const empty = { inserted: false, image: '' };

  it.each<[string, unknown, object]>([
    ['empty', [cd], empty],
    ['next to a floppy with a medium', [floppy, cd], empty],
    ['with an image', [full], { inserted: true, image: 'http://a/b.iso' }],
    ['the second of two', [cd, { ...full, media_types: ['DVD'] }], { inserted: true, image: 'http://a/b.iso' }],
    ['of a BMC that omits empty fields', [{ media_types: ['CD'], inserted: null, image: null }], empty],
  ])('is read: %s', (_, body, expected) => {
    expect(readDrive(body, ASKED)).toEqual(expected);
  });

  it.each<[string, unknown, string]>([
    ['no list', {}, 'SLW_IRONIC_ANSWER'],
    ['too many devices', Array.from({ length: 100 }, () => cd), 'SLW_IRONIC_ANSWER'],
    ['a device that is not an object', ['cd'], 'SLW_IRONIC_ANSWER'],
    ['"inserted" as text', [{ ...cd, inserted: 'true' }], 'SLW_IRONIC_ANSWER'],
    ['an image that is too long', [{ ...cd, image: 'x'.repeat(5000) }], 'SLW_IRONIC_ANSWER'],
    ['no CD or DVD drive', [floppy], 'SLW_IRONIC_NO_DRIVE'],
    ['no device at all', [], 'SLW_IRONIC_NO_DRIVE'],
  ])('cannot be read from %s', (_, body, code) => {
    expect(() => readDrive(body, ASKED)).toThrow(refused(code));
  });
});

import { describe, expect, it } from 'vitest';
import { dataImageStatus } from './data-image-status.ts';
import { withDoubt } from './doubt.ts';
import type { DataImageSeen } from './host-step.ts';
import { anImage, asked, attachedA, empty, factsOf, foreign, type Given, isoA, ours } from './testing/facts.ts';

const image = { memory: attachedA };
const adopted = { memory: asked({ doing: 'adopt', isSent: true }) };
const found = (given: Given, besideOperator = false, seen: Partial<DataImageSeen> = image) => {
  const facts = factsOf({ ...given, image: seen });
  const findings = dataImageStatus(facts, anImage(seen), { type: 'wait', why: 'at rest', ms: null });
  return withDoubt(findings, facts, besideOperator);
};

describe('an ISO that was verified', () => {
  it.each<[string, Given]>([
    ['while nothing has happened since', {}],
    ['where the drive still shows it', { drive: ours }],
    ['on a host that is detached, which keeps what it has', { host: { isDetached: true }, node: null }],
    ['on a host that was adopted anew and still shows it', { host: adopted, drive: ours }],
  ])('is attached %s', (_, given) => {
    expect(found(given)).toMatchObject({ attachedImage: { url: isoA }, attached: { status: 'True' } });
  });

  it.each<[string, Given, RegExp]>([
    ['that Ironic has forgotten', { node: null }, /adopt the host again/],
    ['that is being adopted', { node: { provisionState: 'adopting' } }, /adopt the host again/],
    ['that was adopted anew and cannot be asked', { host: adopted, driveProblem: 'BMC down' }, /BMC down/],
    ['whose drive is empty', { drive: empty }, /empty now/],
    ['whose drive shows another medium', { drive: foreign }, /somebody\.example/],
  ])('is not said to be attached to a host %s', (_, given, why) => {
    const { attachedImage, attached } = found(given);
    expect(attachedImage).toBeUndefined();
    expect(attached).toMatchObject({ status: 'Unknown', reason: 'NotVerified', message: expect.stringMatching(why) });
  });

  it('beside another operator is doubted only where the drive says otherwise', () => {
    expect(found({ node: { provisionState: 'adopting' } }, true).attached.status).toBe('True');
    expect(found({ drive: empty }, true).attached.status).toBe('Unknown');
  });
});

it('what is not attached is not doubted', () => {
  expect(found({ node: null }, false, {}).attached.reason).not.toBe('NotVerified');
});

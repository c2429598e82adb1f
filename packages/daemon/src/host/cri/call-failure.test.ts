import { describe, expect, it } from 'vitest';
import { pullFailure, runtimeFailure } from './call-failure.ts';

const CRIO = { name: 'CRI-O', unit: 'crio', socket: '/run/crio/crio.sock' };
const IMAGE = `quay.example/team/app@sha256:${'a'.repeat(64)}`;
const failure = (code: number, said: string, credential = { username: 'me', password: 'hunter2' }) =>
  pullFailure(IMAGE, { code, said }, credential, CRIO);

describe('a pull that failed', () => {
  it.each([
    [
      'a digest that does not exist',
      2,
      `reading manifest sha256:aa in quay.example/team/app: manifest unknown`,
      /Check the set/,
    ],
    ['no credentials', 2, 'unable to retrieve auth token: invalid username/password: unauthorized: …', /pull secret/],
    ['no permission', 2, 'requested access to the resource is denied', /pull secret/],
    [
      'a registry that is down',
      2,
      'RegistryUnavailable: dial tcp 10.0.0.1:443: connect: connection refused',
      /can reach/,
    ],
    ['a registry with an internal error', 2, 'received unexpected HTTP status: 503 Service Unavailable', /can reach/],
    ['no such registry', 2, 'dial tcp: lookup quay.example: no such host', /can reach/],
    [
      'another certificate authority',
      2,
      'tls: failed to verify certificate: x509: certificate signed by unknown authority',
      /trusts/,
    ],
    ['no signature', 2, 'SignatureValidationFailed: Source image rejected', /policy\.json/],
    [
      'bytes that do not match the digest',
      2,
      'Digest did not match, expected sha256:d9, got sha256:e8',
      /mirrors and proxies/,
    ],
    ['another client that cancelled the shared pull', 1, 'writing blob: context canceled', /The daemon retries/],
    ['an unknown error', 2, 'the moon is full', /journalctl -u crio/],
    ['another code for the same', 5, 'manifest unknown', /Check the set/],
    ['a timeout of the runtime', 4, 'context deadline exceeded', /journalctl -u crio/],
  ])('by %s names the image, the error, and what to do', (_, code, said, wayOut) => {
    const error = failure(code, said);
    expect(error.code).toBe('SLW_PINNING_PULL');
    expect(error.message).toContain(IMAGE);
    expect(error.message).toContain(said);
    expect(error.message).toMatch(wayOut);
  });

  it.each([
    [2, 'writing blob: storing blob to file "/var/tmp/storage1/1": write /var/tmp/storage1/1: no space left on device'],
    [2, 'copying system image: write /var/lib/containers/x: disk quota exceeded'],
    [8, 'no space left on device'],
  ])('by a full disk (code %i) has a separate code', (code, said) => {
    expect(failure(code, said)).toMatchObject({
      code: 'SLW_PINNING_NO_SPACE',
      message: expect.stringContaining(`The disk ran full while ${IMAGE} was being pulled`),
    });
  });

  it.each([
    [14, 'No connection established. Last error: connect ENOENT /run/crio/crio.sock'],
    [14, 'Connection dropped'],
    [13, 'Received RST_STREAM with code 2 triggered by internal client error: read ECONNRESET'],
    [1, 'Call cancelled'],
    [12, 'unknown service runtime.v1.ImageService'],
  ])('because the runtime does not respond (code %i) does not count against the image', (code, said) => {
    const error = failure(code, said);
    expect(error.code).toBe('SLW_PINNING_RUNTIME');
    expect(error.message).toContain(CRIO.socket);
    expect(error.message).toContain(said);
  });

  it('reveals no credentials', () => {
    const pair = Buffer.from('me:p?s s').toString('base64');
    const said = `Get "https://me:p%3Fs%20s@cdn.example/blob?X-Signature=abc&x=1": ${pair}: p?s s\n\u001b[31mred`;
    const { message } = failure(2, said, { username: 'me', password: 'p?s s' });
    expect(message).not.toMatch(/p\?s|p%3Fs|X-Signature|abc/);
    expect(message).not.toContain(pair);
    expect(message).toContain('https://…@cdn.example/blob?…');
    // One line, without control characters.
    expect(message).not.toMatch(/\p{Cc}/u);
  });

  it('has the same message the next time', () => {
    const said = (file: number, port: number) =>
      `storing blob to file "/var/tmp/container_images_storage${file}/1": read tcp 10.0.0.7:${port}->10.0.0.1:443: connection reset by peer`;
    expect(failure(2, said(1234, 50_001)).message).toBe(failure(2, said(5678, 50_002)).message);
    expect(failure(2, said(1, 2)).message).toContain('read tcp 10.0.0.1:443: connection reset by peer');
  });

  it('has a short message, whatever the runtime returns', () => {
    expect(failure(2, `${'x'.repeat(100_000)}: manifest unknown`).message.length).toBeLessThan(1200);
    expect(failure(2, '').message).toContain('it gave no reason');
  });
});

describe('another call that failed', () => {
  it('always counts as a failure of the runtime', () => {
    const codes = [1, 2, 4, 8, 12, 13, 14].map(
      (code) => runtimeFailure('list its images', { code, said: 'no' }, CRIO).code,
    );
    expect(new Set(codes)).toEqual(new Set(['SLW_PINNING_RUNTIME']));
  });

  it('reports whether the runtime responded', () => {
    const said = (code: number, words: string) =>
      runtimeFailure('list its images', { code, said: words }, CRIO).message;
    expect(said(4, 'Deadline exceeded after 10.013s')).toMatch(
      /at \/run\/crio\/crio\.sock did not respond when asked to list its images: it took too long\./,
    );
    expect(said(2, 'layer not known')).toMatch(/did not list its images: layer not known/);
  });
});

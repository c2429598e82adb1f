import { makeAuthority } from '@slipway/base/certificates';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type ApiServerHints, resolveApiServer, formatJoiningKubeconfig } from './joining-kubeconfig.ts';

const nothing: ApiServerHints = {
  apiServerUrl: undefined,
  clusterInfo: undefined,
  rootCa: undefined,
  connection: undefined,
};

describe('the API server for new machines', () => {
  let [root, other]: string[] = [];
  let clusterInfo: string;
  beforeAll(async () => {
    const make = async () => (await makeAuthority(new Date(), 60_000)).certificate;
    [root, other] = [await make(), await make()];
    clusterInfo = `apiVersion: v1\nclusters:\n- cluster:\n    certificate-authority-data: ${btoa(other)}\n    server: https://public.example.com:6443\n  name: ""\nkind: Config\n`;
  });

  it('is the configured one, with the cluster’s CA', () => {
    const hints = { ...nothing, apiServerUrl: 'https://said:6443', clusterInfo, rootCa: root };
    expect(resolveApiServer(hints)).toEqual({ ok: true, apiServer: { url: 'https://said:6443', ca: root } });
  });

  it('is otherwise the one that the cluster publishes', () => {
    expect(resolveApiServer({ ...nothing, clusterInfo, connection: { server: 'https://10.0.0.1', ca: root } })).toEqual(
      {
        ok: true,
        apiServer: { url: 'https://public.example.com:6443', ca: other },
      },
    );
  });

  it('is otherwise the one that this process uses', () => {
    const connection = { server: 'https://10.0.0.1:6443', ca: other };
    expect(resolveApiServer({ ...nothing, connection })).toEqual({
      ok: true,
      apiServer: { url: 'https://10.0.0.1:6443', ca: other },
    });
  });

  it.each([
    ['nothing is known', {}, 'address'],
    ['the published address is damaged', { clusterInfo: 'clusters: [' }, 'address'],
    ['this process uses no TLS', { connection: { server: 'http://127.0.0.1:8001', ca: undefined } }, 'address'],
    ['there is no CA', { apiServerUrl: 'https://said:6443', rootCa: 'nonsense' }, 'CA'],
  ])('is unknown if %s', (_, hints, missing) => {
    expect(resolveApiServer({ ...nothing, ...hints })).toEqual({ ok: false, missing });
  });

  it('is in the kubeconfig with its CA and the token', () => {
    const text = formatJoiningKubeconfig(
      { url: 'https://said:6443', ca: 'PEM' },
      { id: 'abcdef', secret: '0123456789abcdef' },
    );
    expect(parse(text)).toMatchObject({
      clusters: [{ cluster: { server: 'https://said:6443', 'certificate-authority-data': btoa('PEM') } }],
      users: [{ user: { token: 'abcdef.0123456789abcdef' } }],
      'current-context': 'kubelet',
    });
  });
});

// The verdict of a real API server on a manifest, as `kubectl create` gets it: one request for each object, with
// strict validation, here as a dry run.
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';
import { kinds } from '@slipway/api';
import { loadKubeconfig } from '@slipway/kube';
import { parse } from 'yaml';
import type { Mistake } from './cases.ts';

export interface ApiServer {
  /** `accepts`, or `refuses: ` and who refuses it: the words of Kubernetes change with its version. */
  judge(mistake: Mistake): Promise<string>;
  close(): void;
}

export async function connectTo(kubeconfig: string): Promise<ApiServer> {
  const access = await loadKubeconfig([kubeconfig]);
  const { certificate } = await access.credentials.current();
  const agent = new Agent({ keepAlive: true, maxSockets: 4, ca: await access.ca(), ...certificate });
  const create = (path: string, object: string): Promise<Answer> =>
    new Promise((resolve, reject) => {
      // As people wrote it: a client that parses it first would hide mistakes.
      const headers = { 'content-type': 'application/yaml', accept: 'application/json' };
      const url = `${access.server}${path}?dryRun=All&fieldValidation=Strict`;
      request(url, { method: 'POST', agent, headers }, (answer) => {
        text(answer).then((body) => resolve({ status: answer.statusCode ?? 0, message: messageIn(body) }), reject);
      })
        .on('error', reject)
        .end(object);
    });
  return {
    async judge(mistake) {
      const objects = objectsIn(textOf(mistake));
      if (objects.length === 0) return 'refuses: kubectl finds no objects';
      for (const object of objects) {
        const path = pathOf(object);
        if (path === undefined) return 'refuses: kubectl finds no such kind';
        const refusal = describeRefusal(await create(path, object));
        if (refusal !== undefined) return `refuses: ${refusal}`;
      }
      return 'accepts';
    },
    close: () => agent.destroy(),
  };
}

interface Answer {
  readonly status: number;
  readonly message: string;
}

function messageIn(body: string): string {
  const { message = '' } = JSON.parse(body) as { message?: string };
  return message;
}

const textOf = ({ manifest, encoding }: Mistake): string =>
  encoding === undefined ? manifest : Buffer.from(manifest, encoding).toString('latin1');

/** The objects of a manifest, each as the text that a client sends. */
function objectsIn(manifest: string): string[] {
  if (/^kind: List$/m.test(manifest)) {
    const { items } = parse(manifest, { version: '1.1' }) as { items: object[] };
    return items.map((item) => JSON.stringify(item, null, 1));
  }
  if (/^\s*\{[^{]/.test(manifest)) return [manifest];
  return manifest.split(/^---(?=\s).*$/m).filter((document) => !/^(\s*(#.*)?|\.\.\.)*$/.test(document));
}

/** Undefined if the API server has no such kind. */
function pathOf(object: string): string | undefined {
  const [group, version] = fieldOf(object, 'apiVersion').split('/');
  const name = fieldOf(object, 'kind');
  const kind = kinds.find(
    (each) => each.kind === name && each.group === group && each.versions.some((served) => served.name === version),
  );
  if (kind === undefined) return undefined;
  return `/apis/${group}/${version}${kind.namespaced ? '/namespaces/default' : ''}/${kind.plural}`;
}

/** A field at the top level, however broken the rest is. */
const fieldOf = (object: string, field: string): string =>
  new RegExp(`^\\ufeff?[{\\s]*"?${field}"?: *"?([\\w./-]+)`, 'm').exec(object)?.[1] ?? '';

function describeRefusal({ status, message }: Answer): string | undefined {
  if (status === 201) return undefined;
  const policy = /ValidatingAdmissionPolicy '([\w-]+)'/.exec(message)?.[1];
  if (policy !== undefined) return `policy ${policy}`;
  if (status === 422) return 'invalid';
  if (status === 400) return message.includes('strict decoding error') ? 'strict decoding' : 'cannot be decoded';
  throw new Error(`an answer that is no verdict: ${status} ${message}`);
}

import { classifyFailure } from '@slipway/base/http';
import { RegistryError } from './errors.ts';
import type { Asked } from './errors.ts';

/** What it means that no answer came. */
export function noAnswer(error: unknown, asked: Asked): RegistryError {
  const { kind, code } = classifyFailure(error);
  const details = { asked, cause: error };
  switch (kind) {
    case 'untrusted': {
      const text = `expected a certificate that is trusted, found one that is not (${code}). Give the authority that signed it (registry CA); it is never accepted unverified`;
      return new RegistryError('SLW_REGISTRY_TLS', text, details);
    }
    case 'tls': {
      const text = `expected TLS, found something else (${code}). Check the port; a registry without TLS must be allowed by its host (plain http)`;
      return new RegistryError('SLW_REGISTRY_TLS', text, details);
    }
    case 'timeout':
      return new RegistryError('SLW_REGISTRY_SILENT', `expected an answer, ${silence}`, details);
    case 'not-http':
      // Not as the cause: it holds the bytes that came.
      return new RegistryError('SLW_REGISTRY_ANSWER', 'expected HTTP, found something else. Check host and port', {
        asked,
      });
    case 'unreachable':
    case 'closed':
    case 'large-headers':
    case 'unknown': {
      const text = `expected a connection, found none (${code || 'it broke'}). Check that the host runs, its name and port, and the network between`;
      return new RegistryError('SLW_REGISTRY_UNREACHABLE', text, details);
    }
  }
}

/** What it means that an answer did not come to its end. */
export function cutAnswer(error: unknown, asked: Asked): RegistryError {
  const { kind, code } = classifyFailure(error);
  const details = { asked, cause: error };
  if (kind === 'timeout')
    return new RegistryError('SLW_REGISTRY_SILENT', `expected the rest of the answer, ${silence}`, details);
  const text = `expected the whole answer, found that the connection ended in the middle of it (${code || 'no reason given'}). Check the registry's log and what stands between, such as a proxy with a time limit`;
  return new RegistryError('SLW_REGISTRY_CUT', text, details);
}

const silence = 'found silence for longer than is waited. Check the load of the host and the network between';

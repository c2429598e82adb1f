// Resources: a source with its compression, headers and hash.
import { type Findings, show, showSource } from '../report.ts';
import type { Resource } from './noun.ts';
import type { Rules } from './rules.ts';
import { schemeClass, sourceProblem } from './source.ts';

export function checkResource(resource: Resource | undefined, at: string, rules: Rules, findings: Findings): void {
  if (resource === undefined) return;
  checkReference(resource, at, rules, findings);
  if (resource.verification?.hash !== undefined && resource.source === undefined) {
    findings.error(`${at}.verification.hash`, 'there is a hash but no source that it could be of');
  }
}

/** All of a resource but that a hash needs a source: a reference to another config in 3.0 may have one without. */
export function checkReference(resource: Resource, at: string, rules: Rules, findings: Findings): void {
  const { source, httpHeaders } = resource;
  checkCompression(resource.compression, at, findings);
  checkSource(source, at, rules, findings);
  const hash = resource.verification?.hash;
  if (hash !== undefined) checkHash(hash, `${at}.verification.hash`, rules, findings);
  if (httpHeaders !== undefined) checkHeaders(httpHeaders, source, `${at}.httpHeaders`, findings);
}

export function checkCompression(compression: string | undefined, at: string, findings: Findings): void {
  if (compression === undefined || compression === '' || compression === 'gzip') return;
  findings.error(`${at}.compression`, `the compression ${show(compression)} is not known: use "gzip" or leave it out`);
}

/** An empty source stands for empty contents. */
export function checkSource(source: string | undefined, at: string, rules: Rules, findings: Findings): void {
  if (source === undefined || source === '') return;
  const problem = sourceProblem(source, rules);
  if (problem !== null) findings.error(`${at}.source`, problem);
}

/** A resource in a list of its own must have a source. */
export function checkRequiredSource(resource: Resource, at: string, rules: Rules, findings: Findings): void {
  if (rules.sourceRequired && (resource.source === undefined || resource.source === '')) {
    findings.error(at, 'the source is missing');
  }
}

const HASH_LENGTHS = { sha256: 64, sha512: 128 };

export function checkHash(hash: string, at: string, rules: Rules, findings: Findings): void {
  const dash = hash.indexOf('-');
  const known = rules.hashes.map((name) => `${name}-<${HASH_LENGTHS[name]} hex digits>`).join(' or ');
  const name = rules.hashes.find((candidate) => candidate === hash.slice(0, dash));
  if (dash < 0 || name === undefined) {
    findings.error(at, `the hash ${show(hash)} has no known function: expected ${known}`);
    return;
  }
  const length = new TextEncoder().encode(hash.slice(dash + 1)).length;
  if (length === HASH_LENGTHS[name]) return;
  findings.error(at, `the ${name} hash has ${length} digits: expected ${HASH_LENGTHS[name]}`);
}

type Headers = NonNullable<Resource['httpHeaders']>;

function checkHeaders(headers: Headers, source: string | undefined, at: string, findings: Findings): void {
  headers.forEach((header, index) => {
    if (header.name === '') findings.error(`${at}[${index}].name`, 'the name of the header is empty');
    if (header.value === '') {
      findings.error(
        `${at}[${index}].value`,
        `the header ${show(header.name)} has an empty value: leave the value out to remove the header`,
      );
    }
  });
  if (headers.length > 0 && schemeClass(source === '' ? undefined : source) !== 'http') {
    const found = source === undefined || source === '' ? 'there is no source' : `the source is ${showSource(source)}`;
    findings.error(at, `headers can be sent only to http and https, and ${found}`);
  }
}

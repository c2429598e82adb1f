// Resources: a source with its compression, headers and hash; and the `ignition` section, which contains most of them.
import { type Findings, show, showSource } from '../report.ts';
import type { ConfigOf } from '../spec/index.ts';
import { parseUrl } from '../url.ts';
import type { Ignition, Proxy, Resource, Rules } from './rules.ts';
import { schemeClass, sourceProblem } from './source.ts';

export function checkResource(resource: Resource | undefined, at: string, rules: Rules, findings: Findings): void {
  if (resource === undefined) return;
  checkReference(resource, at, rules, findings);
  if (resource.verification?.hash !== undefined && resource.source === undefined) {
    findings.error(`${at}.verification.hash`, 'a hash is set without a source');
  }
}

/** All rules but that a hash needs a source: a reference to another config in 3.0 may have one without. */
function checkReference(resource: Resource, at: string, rules: Rules, findings: Findings): void {
  const { source, httpHeaders } = resource;
  checkCompression(resource.compression, at, findings);
  checkSource(source, at, rules, findings);
  const hash = resource.verification?.hash;
  if (hash !== undefined) checkHash(hash, `${at}.verification.hash`, rules, findings);
  if (httpHeaders !== undefined) checkHeaders(httpHeaders, source, `${at}.httpHeaders`, findings);
}

function checkCompression(compression: string | undefined, at: string, findings: Findings): void {
  if (compression === undefined || compression === '' || compression === 'gzip') return;
  findings.error(`${at}.compression`, `the compression ${show(compression)} is not supported: use "gzip" or omit it`);
}

/** An empty source means empty contents. */
function checkSource(source: string | undefined, at: string, rules: Rules, findings: Findings): void {
  if (source === undefined || source === '') return;
  const problem = sourceProblem(source, rules);
  if (problem !== null) findings.error(`${at}.source`, problem);
}

/** A resource in a list must have a source. */
function checkRequiredSource(resource: Resource, at: string, rules: Rules, findings: Findings): void {
  if (rules.sourceRequired && (resource.source === undefined || resource.source === '')) {
    findings.error(at, 'the source is missing');
  }
}

const HASH_LENGTHS = { sha256: 64, sha512: 128 };

function checkHash(hash: string, at: string, rules: Rules, findings: Findings): void {
  const dash = hash.indexOf('-');
  const known = rules.hashes.map((name) => `${name}-<${HASH_LENGTHS[name]} hex digits>`).join(' or ');
  const name = rules.hashes.find((candidate) => candidate === hash.slice(0, dash));
  if (dash < 0 || name === undefined) {
    findings.error(at, `the hash ${show(hash)} has an unsupported hash function: expected ${known}`);
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
        `the header ${show(header.name)} has an empty value: omit the value to remove the header`,
      );
    }
  });
  if (headers.length > 0 && schemeClass(source === '' ? undefined : source) !== 'http') {
    const found = source === undefined || source === '' ? 'no source is set' : `the source is ${showSource(source)}`;
    findings.error(at, `headers can be sent only over http and https, but ${found}`);
  }
}

export function checkIgnition(ignition: Omit<Ignition, 'version'>, rules: Rules, findings: Findings): void {
  ignition.config?.merge?.forEach((resource, index) => {
    const at = `ignition.config.merge[${index}]`;
    checkRequiredSource(resource, at, rules, findings);
    checkConfig(resource, at, rules, findings);
  });
  checkConfig(ignition.config?.replace, 'ignition.config.replace', rules, findings);
  ignition.security?.tls?.certificateAuthorities?.forEach((resource, index) => {
    const at = `ignition.security.tls.certificateAuthorities[${index}]`;
    checkRequiredSource(resource, at, rules, findings);
    checkResource(resource, at, rules, findings);
    // In 3.0 the source of a certificate authority is a plain string, and an empty one is an invalid URL.
    if (!rules.sourceRequired && resource.source === '') {
      findings.error(`${at}.source`, sourceProblem('', rules) ?? 'the source is empty');
    }
  });
  if (ignition.proxy !== undefined) checkProxy(ignition.proxy, findings);
}

function checkConfig(resource: Resource | undefined, at: string, rules: Rules, findings: Findings): void {
  if (rules.sourceRequired) checkResource(resource, at, rules, findings);
  else if (resource !== undefined) checkReference(resource, at, rules, findings);
}

function checkProxy(proxy: Proxy, findings: Findings): void {
  for (const name of ['httpProxy', 'httpsProxy'] as const) {
    const address = proxy[name];
    if (address === undefined) continue;
    const url = parseUrl(address);
    const at = `ignition.proxy.${name}`;
    if (url?.scheme !== 'http' && url?.scheme !== 'https') {
      findings.error(at, `the proxy ${showSource(address)} is not an http or https URL`);
    } else if (name === 'httpsProxy' && url.scheme === 'http') {
      findings.warn(at, `https requests would reach the proxy ${showSource(address)} unencrypted`);
    }
  }
}

// Spec 2.x.

type Ignition2 = Omit<ConfigOf<'2.4.0'>['ignition'], 'version'>;

interface Reference2 {
  source?: string;
  compression?: string;
  verification?: { hash?: string };
  httpHeaders?: { name: string; value: string }[];
}

export function checkReferences2(ignition: Ignition2, rules: Rules, findings: Findings): void {
  ignition.config?.append?.forEach((reference, index) =>
    checkResource2(reference, `ignition.config.append[${index}]`, rules, findings),
  );
  checkResource2(ignition.config?.replace, 'ignition.config.replace', rules, findings);
  ignition.security?.tls?.certificateAuthorities?.forEach((reference, index) =>
    checkResource2(reference, `ignition.security.tls.certificateAuthorities[${index}]`, rules, findings),
  );
}

export function checkResource2(reference: Reference2 | undefined, at: string, rules: Rules, findings: Findings): void {
  if (reference === undefined) return;
  const { source, verification, httpHeaders } = reference;
  checkCompression(reference.compression, at, findings);
  checkSource(source, at, rules, findings);
  if (verification?.hash !== undefined) checkHash(verification.hash, `${at}.verification.hash`, rules, findings);
  if (httpHeaders !== undefined && httpHeaders.length > 0) {
    checkHeaders2(httpHeaders, source ?? '', `${at}.httpHeaders`, findings);
  }
}

function checkHeaders2(headers: readonly { name: string }[], source: string, at: string, findings: Findings): void {
  if (schemeClass(source) !== 'http') findings.error(at, 'headers can be sent only over http and https');
  const names = new Set<string>();
  headers.forEach(({ name }, index) => {
    if (name === '') findings.error(`${at}[${index}].name`, 'the name of the header is empty');
    else if (names.has(name))
      findings.error(`${at}[${index}].name`, `the header ${show(name)} is duplicated: keep one`);
    names.add(name);
  });
}

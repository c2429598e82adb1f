// Remote references in spec 2.x.
import { type Findings, show } from '../report.ts';
import type { ConfigOf } from '../spec/index.ts';
import { checkCompression, checkHash, checkSource } from './resource.ts';
import type { Rules } from './rules.ts';
import { schemeClass } from './source.ts';

type Ignition = Omit<ConfigOf<'2.4.0'>['ignition'], 'version'>;

interface Reference {
  source?: string;
  compression?: string;
  verification?: { hash?: string };
  httpHeaders?: { name: string; value: string }[];
}

export function checkReferences2(ignition: Ignition, rules: Rules, findings: Findings): void {
  ignition.config?.append?.forEach((reference, index) =>
    checkResource2(reference, `ignition.config.append[${index}]`, rules, findings),
  );
  checkResource2(ignition.config?.replace, 'ignition.config.replace', rules, findings);
  ignition.security?.tls?.certificateAuthorities?.forEach((reference, index) =>
    checkResource2(reference, `ignition.security.tls.certificateAuthorities[${index}]`, rules, findings),
  );
}

export function checkResource2(reference: Reference | undefined, at: string, rules: Rules, findings: Findings): void {
  if (reference === undefined) return;
  const { source, verification, httpHeaders } = reference;
  checkCompression(reference.compression, at, findings);
  checkSource(source, at, rules, findings);
  if (verification?.hash !== undefined) checkHash(verification.hash, `${at}.verification.hash`, rules, findings);
  if (httpHeaders !== undefined && httpHeaders.length > 0) {
    checkHeaders(httpHeaders, source ?? '', `${at}.httpHeaders`, findings);
  }
}

function checkHeaders(headers: readonly { name: string }[], source: string, at: string, findings: Findings): void {
  if (schemeClass(source) !== 'http') findings.error(at, 'headers can be sent only to http and https');
  const names = new Set<string>();
  headers.forEach(({ name }, index) => {
    if (name === '') findings.error(`${at}[${index}].name`, 'the name of the header is empty');
    else if (names.has(name)) findings.error(`${at}[${index}].name`, `the header ${show(name)} stands twice: keep one`);
    names.add(name);
  });
}

// The `ignition` section: referenced configs, certificate authorities, proxies.
import { type Findings, showSource } from '../report.ts';
import { parseUrl } from '../url.ts';
import type { Ignition, Proxy, Resource } from './noun.ts';
import { checkReference, checkRequiredSource, checkResource } from './resource.ts';
import type { Rules } from './rules.ts';
import { sourceProblem } from './source.ts';

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
    // In 3.0 the source of a certificate authority is a plain string, and an empty one is a bad URL.
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
      findings.error(at, `the proxy ${showSource(address)} is no http or https URL`);
    } else if (name === 'httpsProxy' && url.scheme === 'http') {
      findings.warn(at, `requests over https would go to the proxy ${showSource(address)} in the clear`);
    }
  }
}

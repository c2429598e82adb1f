// Spec 2.3.0 and 2.4.0.
import type { Findings } from '../report.ts';
import type { ConfigOf } from '../spec/index.ts';
import { leaveOut, withList } from './step.ts';

type Ignition = ConfigOf<'2.4.0'>['ignition'];
type OlderIgnition = ConfigOf<'2.3.0'>['ignition'];
type Storage = NonNullable<ConfigOf<'2.4.0'>['storage']>;
type OlderStorage = NonNullable<ConfigOf<'2.3.0'>['storage']>;

/** Only new fields. */
export function v2_3ToV2_4(config: ConfigOf<'2.3.0'>): ConfigOf<'2.4.0'> {
  return { ...config, ignition: { ...config.ignition, version: '2.4.0' } };
}

/** 2.3 has no headers and no proxies. */
export function v2_4ToV2_3(config: ConfigOf<'2.4.0'>, findings: Findings): ConfigOf<'2.3.0'> {
  const { storage, ...rest } = config;
  const ignition = translateIgnition(config.ignition, findings);
  return storage === undefined
    ? { ...rest, ignition }
    : { ...rest, ignition, storage: translateStorage(storage, findings) };
}

function translateIgnition({ proxy, config, security, ...rest }: Ignition, findings: Findings): OlderIgnition {
  for (const name of ['httpProxy', 'httpsProxy', 'noProxy'] as const) {
    leaveOut({ path: `ignition.proxy.${name}`, name: 'proxy', value: proxy?.[name] }, '2.3.0', findings);
  }
  const authorities = security?.tls?.certificateAuthorities?.map((reference, index) =>
    withoutHeaders(reference, `ignition.security.tls.certificateAuthorities[${index}]`, findings),
  );
  return {
    ...rest,
    version: '2.3.0',
    ...(config === undefined ? {} : { config: translateConfigs(config, findings) }),
    ...(authorities === undefined ? {} : { security: { tls: { certificateAuthorities: authorities } } }),
  };
}

function translateConfigs({ append, replace }: NonNullable<Ignition['config']>, findings: Findings) {
  const translated = append?.map((reference, index) =>
    withoutHeaders(reference, `ignition.config.append[${index}]`, findings),
  );
  const other = replace === undefined ? {} : { replace: withoutHeaders(replace, 'ignition.config.replace', findings) };
  return { ...withList('append', translated), ...other };
}

function translateStorage({ files, ...rest }: Storage, findings: Findings): OlderStorage {
  const translated = files?.map(({ contents, ...file }, index) =>
    contents === undefined
      ? file
      : { ...file, contents: withoutHeaders(contents, `storage.files[${index}].contents`, findings) },
  );
  return { ...rest, ...withList('files', translated) };
}

function withoutHeaders<R extends { httpHeaders?: unknown }>(
  { httpHeaders, ...rest }: R,
  at: string,
  findings: Findings,
): Omit<R, 'httpHeaders'> {
  leaveOut({ path: `${at}.httpHeaders`, value: httpHeaders }, '2.3.0', findings);
  return rest;
}

// Spec 3.0.0 and 3.1.0.
import type { Findings } from '../report.ts';
import type { ConfigOf } from '../spec/index.ts';
import { leaveOut, withList } from './step.ts';

type Ignition = ConfigOf<'3.1.0'>['ignition'];
type OlderIgnition = ConfigOf<'3.0.0'>['ignition'];
type Storage = NonNullable<ConfigOf<'3.1.0'>['storage']>;
type OlderStorage = NonNullable<ConfigOf<'3.0.0'>['storage']>;
type Resource = NonNullable<NonNullable<Ignition['config']>['replace']>;
type Reference = Omit<Resource, 'compression' | 'httpHeaders'>;

/** Config references, certificate authorities and file contents become resources, with the same fields. */
export function v3_0ToV3_1(config: ConfigOf<'3.0.0'>): ConfigOf<'3.1.0'> {
  return { ...config, ignition: { ...config.ignition, version: '3.1.0' } };
}

/**
 * 3.0 has no proxies, headers or mount options, and compression only for files. A sha256 hash violates a rule of 3.0
 * and is reported by its validation.
 */
export function v3_1ToV3_0(config: ConfigOf<'3.1.0'>, findings: Findings): ConfigOf<'3.0.0'> {
  const { storage, ...rest } = config;
  const ignition = translateIgnition(config.ignition, findings);
  return storage === undefined
    ? { ...rest, ignition }
    : { ...rest, ignition, storage: translateStorage(storage, findings) };
}

function translateIgnition({ proxy, config, security, ...rest }: Ignition, findings: Findings): OlderIgnition {
  for (const name of ['httpProxy', 'httpsProxy', 'noProxy'] as const) {
    leaveOut({ path: `ignition.proxy.${name}`, name: 'proxy', value: proxy?.[name] }, '3.0.0', findings);
  }
  const authorities = security?.tls?.certificateAuthorities?.map((resource, index) =>
    translateAuthority(resource, `ignition.security.tls.certificateAuthorities[${index}]`, findings),
  );
  return {
    ...rest,
    version: '3.0.0',
    ...(config === undefined ? {} : { config: translateConfigs(config, findings) }),
    ...(authorities === undefined ? {} : { security: { tls: { certificateAuthorities: authorities } } }),
  };
}

function translateAuthority(resource: Resource, at: string, findings: Findings) {
  return { ...translateReference(resource, at, findings), source: resource.source ?? '' };
}

function translateConfigs({ merge, replace }: NonNullable<Ignition['config']>, findings: Findings) {
  const translated = merge?.map((resource, index) =>
    translateReference(resource, `ignition.config.merge[${index}]`, findings),
  );
  const other =
    replace === undefined ? {} : { replace: translateReference(replace, 'ignition.config.replace', findings) };
  return { ...withList('merge', translated), ...other };
}

function translateReference(
  { compression, httpHeaders, ...rest }: Resource,
  at: string,
  findings: Findings,
): Reference {
  leaveOut({ path: `${at}.compression`, value: compression }, '3.0.0', findings);
  leaveOut({ path: `${at}.httpHeaders`, value: httpHeaders }, '3.0.0', findings);
  return rest;
}

function translateStorage({ files, filesystems, ...rest }: Storage, findings: Findings): OlderStorage {
  const withoutHeaders = ({ httpHeaders, ...contents }: Resource, at: string) => {
    leaveOut({ path: `${at}.httpHeaders`, value: httpHeaders }, '3.0.0', findings);
    return contents;
  };
  const translatedFiles = files?.map(({ append, contents, ...file }, index) => {
    const at = `storage.files[${index}]`;
    return {
      ...file,
      ...withList(
        'append',
        append?.map((resource, place) => withoutHeaders(resource, `${at}.append[${place}]`)),
      ),
      ...(contents === undefined ? {} : { contents: withoutHeaders(contents, `${at}.contents`) }),
    };
  });
  const translatedFilesystems = filesystems?.map(({ mountOptions, ...filesystem }, index) => {
    leaveOut({ path: `storage.filesystems[${index}].mountOptions`, value: mountOptions }, '3.0.0', findings);
    return filesystem;
  });
  return { ...rest, ...withList('files', translatedFiles), ...withList('filesystems', translatedFilesystems) };
}

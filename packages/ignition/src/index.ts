// The Ignition formats: parse, validate, translate, merge with provenance, resolve. No I/O and no Node APIs in here.
export { merge, type Merged, type MergeInput } from './merge.ts';
export { parse, PARSE_LIMITS, type Parsed, type ParseLimits, type ParseResult, type NotParsed } from './parse.ts';
export type { Origin, Provenance } from './provenance.ts';
export { Findings, formatPath, hasErrors, type Report, type ReportEntry } from './report.ts';
export {
  type AnyConfig,
  type Config,
  type Config2,
  type Config3,
  type ConfigOf,
  isOfVersion,
  isSpec2,
  specOf,
} from './spec/index.ts';
export { translate, type Translated, type TranslateOptions } from './translate/index.ts';
export type { Shape } from './spec/field.ts';
export { validate } from './validate/index.ts';
export { findOctalMode } from './validate/node.ts';
export { isSpecVersion, NEWEST_VERSION, SPEC_VERSIONS, type SpecVersion, type SpecVersion3 } from './version.ts';
export { decodeDataUrl, type DecodedDataUrl, encodeDataUrl } from './data-url.ts';
export {
  encodeContents,
  type EncodedContents,
  gunzip,
  type Gunzipped,
  type GunzipLimits,
  gzip,
} from './compression.ts';
export {
  type HostPolicy,
  isAddressAllowed,
  isAddressRange,
  whyAddressRefused,
  whyConnectionRefused,
  whyHostRefused,
  whyRedirectRefused,
} from './resolve/address.ts';
export { checkContents } from './resolve/contents.ts';
export type { Fetched, Fetcher, FetchRequest } from './resolve/fetcher.ts';
export { resolve, type Resolved, type ResolveOptions } from './resolve/index.ts';
export { DEFAULT_LIMITS, type ResolveLimits } from './resolve/limits.ts';
export { maskUrl, type ResolveEntry } from './resolve/problem.ts';
export { cleanPath } from './posix-path.ts';
export { scanJson } from './json-scan.ts';
export { type ResolveCode, resolveErrors } from './errors.ts';
export { proxyFor, type ProxySettings } from './resolve/proxy.ts';
export { diffConfigs, type ConfigDiff, type DiffOptions, type ItemDiff } from './diff/index.ts';
export { formatDiff, formatItem } from './diff/text.ts';

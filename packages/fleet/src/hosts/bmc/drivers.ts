// The admission policy of DataImages follows the same table.
export { type BmcDriver, bmcDrivers } from '@slipway/api';

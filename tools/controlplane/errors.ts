export type ToolsErrorCode =
  | 'SLW_TOOLS_ASSETS'
  | 'SLW_TOOLS_NO_GO'
  | 'SLW_TOOLS_OLD_GO'
  | 'SLW_TOOLS_BUILD_FAILED'
  | 'SLW_TOOLS_DISK_FULL'
  | 'SLW_TOOLS_PORT_TAKEN'
  | 'SLW_TOOLS_PORT_INVALID'
  | 'SLW_TOOLS_DATA_DIR'
  | 'SLW_TOOLS_DATA_DIR_IN_USE'
  | 'SLW_TOOLS_START_FAILED'
  | 'SLW_TOOLS_NO_APT'
  | 'SLW_TOOLS_PACKAGE'
  | 'SLW_TOOLS_NO_NODES'
  | 'SLW_TOOLS_NO_PYTHON'
  | 'SLW_TOOLS_PYTHON_PACKAGES';

/** An expected failure of the environment. The message is complete for the user: print it without the stack. */
export class ToolsError extends Error {
  override readonly name = 'ToolsError';
  readonly code: ToolsErrorCode;

  constructor(code: ToolsErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

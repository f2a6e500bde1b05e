/**
 * Content that the log must not keep, as set by an organization or a workspace. Both apply to the workspace: a workspace can add rules,
 * never remove any.
 */
export interface LogRedaction {
  /** Names of headers whose values are not kept, case-insensitive. */
  readonly headers?: readonly string[];
  /** Paths in JSON bodies whose values are not kept: `$.messages[*].content`, `$..email`. */
  readonly json_paths?: readonly string[];
  /** Text that is not kept in bodies, headers and paths, in RE2's syntax. */
  readonly patterns?: readonly string[];
}

// Whose value of a setting counts: the user's. Anyone who can write to a workspace can only restrict it further.

/** A setting's values, as the editor keeps them in its places. */
export interface SettingValues {
  defaultValue?: unknown;
  globalValue?: unknown;
  workspaceValue?: unknown;
  workspaceFolderValue?: unknown;
}

/** The user's value, and those of the workspace. */
export function valuesOf(values: SettingValues): { user: unknown; workspace: unknown[] } {
  const { defaultValue, globalValue, workspaceValue, workspaceFolderValue } = values;
  const workspace = [workspaceValue, workspaceFolderValue].filter((value) => value !== undefined);
  return { user: globalValue ?? defaultValue, workspace };
}

/** Whether it is on for the user, and not turned off by the workspace. An unknown value is off. */
export function isOn(values: SettingValues): boolean {
  const { user, workspace } = valuesOf(values);
  return [user, ...workspace].every((value) => value === true);
}

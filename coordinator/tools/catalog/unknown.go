package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/agnivade/levenshtein"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// unknown names the tool that does what the name of one promises that the server does not
// have.
func (t Tools) unknown(name string, err error) error {
	if !strings.Contains(err.Error(), "unknown tool") {
		return err
	}
	message := fmt.Sprintf("there is no tool %q", name)
	if ours := elsewhere()[bare(name)]; ours != "" {
		message += "; there is " + ours
	} else if schemas()[name] != nil {
		message += " here: the user can add it with --caps"
	} else if near := nearest(name, slices.Collect(maps.Keys(t))); near != "" {
		message += "; there is " + near
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: message}
}

// bare is the name of a tool without the prefix that says in which program it works, and
// in this program's spelling.
func bare(name string) string {
	var b strings.Builder
	for i, c := range strings.ReplaceAll(name, "-", "_") {
		if i > 0 && 'A' <= c && c <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteRune(c)
	}
	name = strings.ToLower(b.String())
	for _, prefix := range []string{"browser_", "playwright_", "puppeteer_", "chrome_"} {
		name = strings.TrimPrefix(name, prefix)
	}
	return name
}

// does is what tools of other versions and servers do here: what an agent calls, and their
// names without a prefix.
var does = map[string]string{
	"browser_tabs with action close":            "close tab_close close_tab close_page page_close close_browser quit",
	"browser_tabs with action list":             "tab_list list_tabs list_pages tabs_list get_tabs get_current_tab pages",
	"browser_tabs with action new and url":      "tab_new new_tab new_page tabs_new tab_open open_tab tab_create create_tab",
	"browser_tabs with action select and index": "tab_select select_tab select_page switch_tab tab_switch activate_tab tab_focus",
	"browser_navigate with action back":         "navigate_back go_back back navigation_back history_back",
	"browser_navigate with action forward":      "navigate_forward go_forward forward history_forward",
	"browser_navigate with action reload":       "reload refresh reload_page navigate_reload navigate_refresh",
	"browser_navigate with url":                 "goto go_to go_to_url open open_url navigate_page navigate_to visit load launch start",
	"browser_find with text and scroll, which scrolls to it, or browser_press_key with key PageDown": "scroll scroll_page scroll_to scroll_to_text scroll_into_view scroll_to_element scroll_down scroll_up mouse_scroll mouse_wheel scroll_by",
	"browser_take_screenshot":    "screenshot capture screen_capture capture_screenshot take_picture",
	"browser_snapshot":           "get_state observe accessibility_snapshot get_page get_elements get_accessibility_tree page_snapshot list_elements get_clickable_elements",
	"browser_wait_for with time": "wait sleep pause wait_time wait_for_timeout",
	"browser_wait_for with text, textGone, url, expression or networkIdle": "wait_for_selector wait_for_element wait_until wait_for_text wait_for_url wait_for_function wait_for_navigation wait_for_load_state wait_for_load wait_for_network_idle wait_for_response",
	"browser_markdown, of one element with target":                         "get_text text get_page_text get_content page_text get_markdown read read_page get_page_content get_visible_text extract extract_text extract_content read_text inner_text text_content",
	"browser_dom": "get_html html page_source get_source get_visible_html get_page_html outer_html inner_html get_page_source content get_dom view_source",
	"browser_snapshot with target, or browser_evaluate with function and target": "get_attribute get_element get_value get_property inspect get_styles get_computed_style query_selector",
	"browser_evaluate with function":                                             "execute execute_script run_script run_javascript evaluate_script javascript run_code eval js exec execute_javascript run_code_unsafe execute_js run_js",
	"browser_type with target and text":                                          "fill input type_text input_text enter_text set_value send_keys write clear",
	"browser_press_key with key":                                                 "press key key_press keypress press_keys send_key keyboard_press keyboard press_enter",
	"browser_click with doubleClick":                                             "double_click dblclick",
	"browser_click with button right":                                            "right_click context_click",
	"browser_click with target":                                                  "tap click_element click_text click_ref",
	"browser_select_option with target and values":                               "select choose select_dropdown dropdown_select choose_option",
	"browser_fill_form with value true or false":                                 "check uncheck set_checked check_box toggle",
	"browser_fill_form with fields":                                              "fill_fields form form_input",
	"browser_drag with startTarget and endTarget":                                "drag_and_drop drag_drop drag_to",
	"browser_file_upload with paths and target":                                  "upload upload_file upload_files set_input_files choose_file",
	"browser_handle_dialog with accept true":                                     "accept_dialog accept_alert dialog_accept confirm_dialog handle_alert alert_accept",
	"browser_handle_dialog with accept false":                                    "dismiss_dialog dismiss_alert dialog_dismiss alert_dismiss",
	"browser_console_messages":                                                   "console get_console_logs console_logs get_console list_console_messages get_console_message get_logs logs console_log",
	"browser_network_requests":                                                   "network get_network_logs list_network_requests network_logs get_network_requests requests",
	"browser_network_request with index":                                         "get_network_request get_request get_response get_response_body",
	"browser_emulate with viewport WIDTHxHEIGHT":                                 "resize resize_page set_viewport set_viewport_size viewport resize_window set_window_size",
	"browser_emulate":                                                            "emulate_media emulate_network emulate_cpu emulate_device set_geolocation set_offline network_state_set set_user_agent set_color_scheme",
	"browser_fetch with url":                                                     "request http_request get post api_request",
	"browser_find with text":                                                     "search search_page find_text find_element find_elements locate",
	"browser_steps with steps":                                                   "batch act actions multi_action perform_actions",
	"pick_element":                                                               "select_element pick",
	"the argument window of every tool":                                          "window_select select_window",
}

// elsewhere is does by the name of the other tool.
var elsewhere = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for ours, names := range does {
		for name := range strings.FieldsSeq(names) {
			all[name] = ours
		}
	}
	return all
})

// nearest is the name that is most likely meant; empty if none is near. A tool's name may
// lack its prefix, and a prefix makes no two names more alike.
func nearest(name string, names []string) string {
	slices.Sort(names)
	word := unprefixed(name)
	best, distance := "", max(1, (len(word)+1)/3)+1
	var containing []string
	for _, each := range names {
		if d := min(levenshtein.ComputeDistance(name, each), levenshtein.ComputeDistance(word, unprefixed(each))); d < distance {
			best, distance = each, d
		}
		if strings.Contains(each, word) {
			containing = append(containing, each)
		}
	}
	if distance > 1 && len(containing) == 1 {
		return containing[0]
	}
	return best
}

func unprefixed(name string) string { return name[strings.IndexByte(name, '_')+1:] }

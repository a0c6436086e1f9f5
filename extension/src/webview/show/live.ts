import "./host"; // first: it makes what the view's script finds
import "../live";
